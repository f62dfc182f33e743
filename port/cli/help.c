#include "help.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *verb, *text;
} texts[] = {
    { "run",
      "e2b run [options] [--] COMMAND [ARGUMENT...]     e2b run [options] -c LINE\n"
      "\n"
      "Creates a sandbox, runs the command in it, and kills the sandbox, whatever\n"
      "happens. Output is passed on as it comes, standard input is passed in.\n"
      "The exit code is the command's (128+n if signal n ended it), or 125 if e2b\n"
      "itself failed. The first ctrl-C sends the command SIGTERM, the second kills\n"
      "the sandbox at once, the third gives up and prints its id.\n"
      "\n"
      "  -c LINE              a line for a login shell instead of a command\n"
      "  -t, --template NAME  what the sandbox is made from (base)\n"
      "      --timeout TIME   its lifetime: a longer command is cut off (5m)\n"
      "      --limit TIME     the command is killed after this time (none)\n"
      "  -m, --meta NAME=VALUE    metadata of the sandbox; repeatable\n"
      "  -e, --env NAME=VALUE     environment of the command; repeatable\n"
      "  -u, --user NAME      -w, --cwd DIRECTORY      --tag NAME (for ps)\n"
      "  -n, --no-input       nothing is passed in; the command reads an empty file\n"
      "      --no-internet    the sandbox reaches nothing outside\n"
      "      --open           no access token: who knows the id can use the sandbox\n"
      "      --auto-pause     when its time is over it is paused, not killed\n"
      "      --codec json|proto   how the output travels (json)\n"
      "\n"
      "  e2b run -- python3 -c 'print(6*7)'        tar c . | e2b run -c 'tar x; make'\n" },
    { "exec",
      "e2b exec [options] ID [--] COMMAND [ARGUMENT...]\n"
      "e2b exec [options] ID -c LINE\n"
      "\n"
      "Runs a command in a running sandbox. Output is passed on as it comes, standard\n"
      "input is passed in. The exit code is the command's (128+n if signal n ended\n"
      "it), or 125 if e2b itself failed. The sandbox's lifetime stays as it is.\n"
      "The first ctrl-C sends the command SIGTERM, the second leaves it and prints\n"
      "how to kill it. If nobody reads the output any more, as in exec | head, the\n"
      "command is sent SIGTERM. A child left in the background keeps exec waiting\n"
      "unless its output goes elsewhere: 'server >log 2>&1 &'.\n"
      "\n"
      "  -c LINE              a line for a login shell instead of a command\n"
      "      --limit TIME     the command is killed after this time (none)\n"
      "  -e, --env NAME=VALUE environment of the command; repeatable\n"
      "  -u, --user NAME      who runs it\n"
      "  -w, --cwd DIRECTORY  where\n"
      "      --tag NAME       a name for ps and kill-process\n"
      "  -n, --no-input       nothing is passed in; the command reads an empty file\n"
      "      --codec json|proto   how the output travels (json)\n"
      "\n"
      "  e2b exec $id -- pytest -q                 e2b exec $id -c 'cat >in' <data\n" },
    { "create",
      "e2b create [options]\n"
      "\n"
      "Creates a sandbox and prints its id. It lives until its timeout or e2b kill.\n"
      "If creating fails or is interrupted, nothing is left behind.\n"
      "\n"
      "  -t, --template NAME  what it is made from (base)\n"
      "      --timeout TIME   its lifetime, such as 90s, 10m, 1h30m (5m)\n"
      "  -m, --meta NAME=VALUE    metadata, to find it by; repeatable\n"
      "  -e, --env NAME=VALUE     environment of every command in it; repeatable\n"
      "      --auto-pause     when its time is over it is paused, not killed\n"
      "      --no-internet    it reaches nothing outside\n"
      "      --open           no access token: who knows the id can use it\n"
      "      --json           {\"sandboxID\":..., \"domain\":..., \"envdVersion\":...}\n"
      "\n"
      "  id=$(e2b create --timeout 10m --meta job=42)\n" },
    { "connect",
      "e2b connect ID [--timeout TIME] [--disk-only] [--json]\n"
      "\n"
      "Wakes a paused sandbox, or makes sure that a running one lives for at least\n"
      "--timeout (5m) from now, and prints its id. To look at a sandbox or to run\n"
      "something in it no connect is needed: see info, ps and exec.\n"
      "\n"
      "      --disk-only      boots a paused one from its disk, without its processes\n"
      "      --json           {\"sandboxID\":..., \"domain\":..., \"envdVersion\":...}\n" },
    { "resume",
      "e2b resume ID [--timeout TIME] [--disk-only]\n"
      "\n"
      "Wakes a paused sandbox for --timeout (5m). A running one lives for at least\n"
      "that long. Prints nothing.\n"
      "\n"
      "      --disk-only      boots from its disk, without its processes\n" },
    { "list",
      "e2b list [options]\n"
      "\n"
      "Lists the sandboxes, the newest first. If listing fails on the way, the exit\n"
      "code is 125 and the JSON array stays open: a part never looks like the whole.\n"
      "\n"
      "  -m, --meta NAME=VALUE    only with this metadata; repeatable, all must match\n"
      "      --state STATES       running, paused, or running,paused (both)\n"
      "  -t, --template NAME      only made from this\n"
      "      --json               an array of sandboxID, templateID, alias, state,\n"
      "                           startedAt, endAt, cpuCount, memoryMB, diskSizeMB,\n"
      "                           envdVersion, metadata\n"
      "\n"
      "  e2b list --meta job=42 --json | jq -r '.[].sandboxID' | xargs -r e2b kill\n" },
    { "info",
      "e2b info ID [--json]\n"
      "\n"
      "Shows a sandbox: state, template, start and end, size, metadata. Changes\n"
      "nothing. --json has the members of list, and allowInternetAccess, lifecycle\n"
      "and network where the service gives them.\n" },
    { "ps",
      "e2b ps ID [--json]\n"
      "\n"
      "Lists the processes that were started through the service in a running\n"
      "sandbox. --json is an array of pid, cmd, args, cwd and tag. Environments may\n"
      "hold secrets and are not shown.\n" },
    { "kill-process",
      "e2b kill-process ID PID [--signal TERM|KILL]\n"
      "e2b kill-process ID --tag TAG [--signal TERM|KILL]\n"
      "\n"
      "Sends a signal, KILL unless told otherwise, to one process of a sandbox, not\n"
      "to its children. The pid is one that e2b ps shows.\n" },
    { "timeout",
      "e2b timeout ID TIME\n"
      "\n"
      "Ends a running sandbox TIME from now, sooner or later than before. A time is\n"
      "90s, 10m, 1h30m, 2d, or a number of seconds; above zero.\n" },
    { "pause",
      "e2b pause ID [--disk-only]\n"
      "\n"
      "Stops a sandbox and keeps it, with its memory, until e2b resume or e2b kill.\n"
      "One that is paused already stays so.\n"
      "\n"
      "      --disk-only      keeps the disk only: its processes are gone\n" },
    { "kill",
      "e2b kill ID...\n"
      "\n"
      "Kills sandboxes, running or paused. One that does not exist any more is no\n"
      "error, so it is safe to repeat.\n" },
    { "health",
      "e2b health ID [--json]\n"
      "\n"
      "Asks the sandbox itself whether it answers. Prints \"running\" and ends with 0,\n"
      "or \"not running\" and 1; 125 if it could not be found out.\n"
      "--json is {\"sandboxID\":..., \"running\":true|false}.\n" },
    { "version", "e2b version [--json]\n\nPrints the version of e2b.\n" },
    { "help", "e2b help [VERB]\n\nExplains a verb.\n" },
};

static const char overview[] =
    "e2b: run commands in E2B sandboxes\n"
    "\n"
    "  run [--] COMMAND...      create a sandbox, run a command in it, kill it\n"
    "  create                   create a sandbox, print its id\n"
    "  exec ID [--] COMMAND...  run a command in a sandbox\n"
    "  ps ID, kill-process ID PID      the processes of a sandbox\n"
    "  list, info ID, health ID        which sandboxes there are, and how they are\n"
    "  timeout ID TIME          end a sandbox TIME from now\n"
    "  pause ID, resume ID      stop a sandbox and keep it; go on\n"
    "  connect ID               make sure that a sandbox runs, paused or not\n"
    "  kill ID...               kill sandboxes\n"
    "  version, help [VERB]     e2b VERB --help is the same\n"
    "\n"
    "Every verb that asks the service takes --api-key KEY (else E2B_API_KEY),\n"
    "--domain NAME (E2B_DOMAIN, e2b.app), --api-url URL (E2B_API_URL),\n"
    "--sandbox-url URL (E2B_SANDBOX_URL) and -v, --verbose: what goes over the wire\n"
    "on standard error. Times are 90s, 10m, 1h30m, 2d, or seconds.\n"
    "\n"
    "Standard output gets the result and nothing else. Exit codes: 0; 125 if e2b\n"
    "failed, with one line on standard error; for run and exec the command's own;\n"
    "128+n after signal n.\n";

const char *help_text(const char *verb)
{
    if (!verb)
        return overview;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].verb, verb) == 0)
            return texts[i].text;
    return NULL;
}
