#include "json_documents.h"

#define TEXT(text) {text, sizeof(text) - 1}
#define BODY(body) {body, sizeof(body) - 1}

const char json_info_body[] =
    "{\"alias\":\"base\",\"allowInternetAccess\":true,\"clientID\":\"6532622b\",\"cpuCount\":2,\"diskSizeMB\":1982,"
    "\"endAt\":\"2026-11-30T22:16:28.687568026Z\","
    "\"envdAccessToken\":\"a6e0a3f4e90ca1154f7fae5f4655787cbaac76caff677b17437b1bf9c75a6446\","
    "\"envdVersion\":\"0.6.13\",\"lifecycle\":{\"autoResume\":false,\"onTimeout\":\"kill\"},\"memoryMB\":512,"
    "\"metadata\":{\"a b\":\"c\\u0026d=e/f,\xc3\xa9\\\"\",\"job\":\"42\","
    "\"libe2b.create\":\"00112233445566778899aabbccddeeff\"},\"sandboxID\":\"itppfhne5ddx3040zxafu\","
    "\"startedAt\":\"2026-11-30T22:11:28.687568026Z\",\"state\":\"running\","
    "\"templateID\":\"2j6ly824owf4awgai1xo\",\"volumeMounts\":[]}";
const char json_list_body[] =
    "[{\"alias\":\"base\",\"clientID\":\"6532622b\",\"cpuCount\":2,\"diskSizeMB\":1982,"
    "\"endAt\":\"2026-11-30T22:12:32.06375407Z\",\"envdVersion\":\"0.6.13\",\"memoryMB\":512,"
    "\"sandboxID\":\"igjeqyg4t09sod7nikdf7\",\"startedAt\":\"2026-11-30T22:11:32.06375407Z\",\"state\":\"running\","
    "\"templateID\":\"2j6ly824owf4awgai1xo\",\"volumeMounts\":[]},{\"alias\":\"base\",\"clientID\":\"6532622b\","
    "\"cpuCount\":2,\"diskSizeMB\":1982,\"endAt\":\"2026-11-30T22:16:31.953240246Z\",\"envdVersion\":\"0.6.13\","
    "\"memoryMB\":512,\"metadata\":{},\"sandboxID\":\"if4wcelcx30nqk7qi9ht4\","
    "\"startedAt\":\"2026-11-30T22:11:31.953240246Z\",\"state\":\"running\","
    "\"templateID\":\"2j6ly824owf4awgai1xo\",\"volumeMounts\":[]}]\n";
const char json_create_body[] =
    "{\"alias\":\"base\",\"clientID\":\"6532622b\","
    "\"envdAccessToken\":\"d0fc472c7fb455472ffe106bd4f03b1a0de6ca4e2f98bb944aefba4cf96c3126\","
    "\"envdVersion\":\"0.6.13\",\"sandboxID\":\"ibb56my54d9biza4ggh4s\",\"templateID\":\"2j6ly824owf4awgai1xo\"}";
const char json_error_body[] =
    "{\"code\":401,\"message\":\"Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\\n"
    "Cannot get the team for the given API key\"}";

const json_document json_good[] = {
    BODY(json_info_body),
    BODY(json_list_body),
    BODY(json_create_body),
    BODY(json_error_body),
    TEXT("{}"),
    TEXT("[]"),
    TEXT(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n"),
    TEXT("[[],{},[[]],[{}],{\"a\":{\"b\":[]}}]"),
    TEXT("0"),
    TEXT("-0"),
    TEXT("12\n"),
    TEXT("-12.5e+30"),
    TEXT("true"),
    TEXT(" false "),
    TEXT("null\n"),
    TEXT("\"x\""),
    TEXT("\"x\"\n"),
    TEXT("\"\""),
    TEXT("[0,-0,1,-1,10,0.0,0.5,1e0,1E5,1e+5,1e-5,-1.25E-10,123456789012345678901234567890]"),
    TEXT("[true,false,null,\"true\"]"),
    TEXT("{\"\":\"\",\"\":0}"),
    TEXT("{\"size\":\"5368709120\",\"again\":5368709120,\"short\":5.36870912e9}"),
    TEXT("{\"exitCode\":-1,\"exited\":true,\"status\":\"exit status 255\",\"error\":null}"),
    TEXT("{\"twice\":1,\"tw\\u0069ce\":2}"),
    TEXT("{\"a name of more than twenty-three bytes\":1,\"\\u00e9\\ud83d\\ude00\\n\":[\"\\u0000\"]}"),
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\\u0080\\u07ff\\u0800\\uFFFF\\ud800\\udc00\\uDBFF\\uDFFF\""),
    TEXT("\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
    TEXT("[\"\\\\\",\"\\\\\\\"\",\"\\\\\\\\\",\"{[,:]}\"]"),
    TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"), /* 32 */
};
const size_t json_good_count = sizeof json_good / sizeof json_good[0];

const json_document json_bad[] = {
    TEXT(""),
    TEXT(" "),
    /* separators and brackets */
    TEXT("{\"a\"}"),
    TEXT("{\"a\":}"),
    TEXT("{\"a\":1,}"),
    TEXT("{,}"),
    TEXT("{\"a\",\"b\":1}"),
    TEXT("{\"a\":\"b\":\"c\"}"),
    TEXT("{\"a\":1 \"b\":2}"),
    TEXT("{\"a\"::1}"),
    TEXT("{\"a\" 1}"),
    TEXT("{,\"a\":1}"),
    TEXT("{\"a\":1,,\"b\":2}"),
    TEXT("{1:2}"),
    TEXT("{true:2}"),
    TEXT("{[]:2}"),
    TEXT("{a:1}"),
    TEXT("{'a':1}"),
    TEXT("{:1}"),
    TEXT("[1,,3]"),
    TEXT("[1 2]"),
    TEXT("[,1]"),
    TEXT("[1,]"),
    TEXT("[,]"),
    TEXT("[\"a\":1]"),
    TEXT("[\"a\"\"b\"]"),
    TEXT("[[] []]"),
    TEXT("[{} {}]"),
    TEXT("[1:2]"),
    TEXT("[}"),
    TEXT("{]"),
    TEXT("[{]}"),
    TEXT("{\"a\":[}]"),
    TEXT("]"),
    TEXT("}"),
    TEXT(":"),
    TEXT(","),
    TEXT("["),
    TEXT("{"),
    TEXT("[[]"),
    TEXT("{\"a\":{}"),
    TEXT("{} {}"),
    TEXT("{}{}"),
    TEXT("{},"),
    TEXT("[]]"),
    TEXT("1 2"),
    TEXT("1,2"),
    TEXT("true false"),
    TEXT("\"a\" \"b\""),
    /* numbers */
    TEXT("[01]"),
    TEXT("[-]"),
    TEXT("[-01]"),
    TEXT("[+1]"),
    TEXT("[1.]"),
    TEXT("[.5]"),
    TEXT("[1.2.3]"),
    TEXT("[1e]"),
    TEXT("[1e+]"),
    TEXT("[1e5.5]"),
    TEXT("[1.e5]"),
    TEXT("[0x10]"),
    TEXT("[1a]"),
    TEXT("[--1]"),
    TEXT("[1-2]"),
    TEXT("[NaN]"),
    TEXT("[Infinity]"),
    TEXT("[-Infinity]"),
    TEXT("1e"),
    TEXT("-"),
    TEXT("[123456789012345678901234567890.]"),
    /* words */
    TEXT("[tru]"),
    TEXT("[thanx]"),
    TEXT("[trueX]"),
    TEXT("[true1]"),
    TEXT("[nul]"),
    TEXT("[nulll]"),
    TEXT("[falsey]"),
    TEXT("[True]"),
    TEXT("[undefined]"),
    TEXT("tru"),
    /* bytes that stand nowhere */
    TEXT("{}\0garbage"),
    TEXT("\0"),
    TEXT("[\0]"),
    TEXT("[1\0]"),
    TEXT("[1,\v2]"),
    TEXT("[1,\f2]"),
    TEXT("\xef\xbb\xbf{}"),
    TEXT("[\xc2\xa0" "1]"),
    TEXT("[1]//"),
    TEXT("[/**/1]"),
    TEXT("[\x7f]"),
    /* names */
    TEXT("{\"a\nb\":1}"),
    TEXT("{\"a\0b\":1}"),
    TEXT("{\"\\x\":1}"),
    TEXT("{\"\\u12\":1}"),
    TEXT("{\"\\ud800\":1}"),
    TEXT("{\"\\ud800x\\udc00\":1}"),
    TEXT("{\"\xff\":1}"),
    TEXT("{\"\xe2\x82\":1}"),
    TEXT("{\"a long name, of which one byte is wrong \xc0\x80\":1}"),
    /* strings without an end */
    TEXT("\""),
    TEXT("\"a"),
    TEXT("\"\\"),
    TEXT("\"\\\""),
    TEXT("[\"a]"),
    TEXT("{\"a"),
    TEXT("{\"a\\\":1}"),
    TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"), /* 33 */
};
const size_t json_bad_count = sizeof json_bad / sizeof json_bad[0];

const json_document json_bad_text[] = {
    TEXT("[\"a\nb\"]"),
    TEXT("[\"\x01\"]"),
    TEXT("[\"\x1f\"]"),
    TEXT("[\"a\0b\"]"),
    TEXT("\"\t\""),
    TEXT("[\"\\x\"]"),
    TEXT("[\"\\'\"]"),
    TEXT("[\"\\U0041\"]"),
    TEXT("[\"\\u\"]"),
    TEXT("[\"\\u1\"]"),
    TEXT("[\"\\u12\"]"),
    TEXT("[\"\\u123\"]"),
    TEXT("[\"\\u12G4\"]"),
    TEXT("[\"\\u 123\"]"),
    TEXT("[\"\\u+123\"]"),
    TEXT("[\"\\\n\"]"),
    TEXT("[\"\\0\"]"),
    TEXT("[\"\\ud800\"]"),
    TEXT("[\"\\udc00\"]"),
    TEXT("[\"\\ud800x\"]"),
    TEXT("[\"\\ud800x\\udc00\"]"),
    TEXT("[\"\\ud800\xc3\xa9\\udc00\"]"),
    TEXT("[\"\\ud800\\n\"]"),
    TEXT("[\"\\ud800\\n\\udc00\"]"),
    TEXT("[\"\\ud800\\u0041\"]"),
    TEXT("[\"\\ud800\\ud800\"]"),
    TEXT("[\"\\ud800\\ud800\\udc00\"]"),
    TEXT("[\"\\udc00\\ud800\"]"),
    TEXT("[\"\\ud800\\u\"]"),
    TEXT("[\"\\ud83d\\\\ude00\"]"),
    TEXT("[\"\xc0\x80\"]"),
    TEXT("[\"\xc1\xbf\"]"),
    TEXT("[\"\xe0\x9f\xbf\"]"),
    TEXT("[\"\xed\xa0\x80\"]"),
    TEXT("[\"\xed\xa0\xbd\xed\xb8\x80\"]"),
    TEXT("[\"\xf0\x8f\xbf\xbf\"]"),
    TEXT("[\"\xf4\x90\x80\x80\"]"),
    TEXT("[\"\xf5\x80\x80\x80\"]"),
    TEXT("[\"\xff\"]"),
    TEXT("[\"\xfe\"]"),
    TEXT("[\"\x80\"]"),
    TEXT("[\"\xe2\x82\"]"),
    TEXT("[\"\xe2\x82x\"]"),
    TEXT("[\"\xe2\\u0082\"]"),
    TEXT("[\"\\ud800\xf0\x90\x80\x80\"]"),
    TEXT("{\"a\":\"\xc3\"}"),
};
const size_t json_bad_text_count = sizeof json_bad_text / sizeof json_bad_text[0];
