"""Sandboxes as the JSON values of the API, keys in the server's order."""

import time

CLIENT_ID = "6532622b"
CPU_COUNT, DISK_MB, MEMORY_MB = 2, 1982, 512


def time_text(nanoseconds):
    """RFC 3339 with as many digits of the second as are not zero."""
    seconds, fraction = divmod(nanoseconds, 10**9)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    digits = f"{fraction:09d}".rstrip("0")
    return f"{text}.{digits}Z" if digits else text + "Z"


def sandbox_value(sandbox):
    value = {"alias": sandbox.template.name, "clientID": CLIENT_ID}
    if sandbox.token is not None:
        value["envdAccessToken"] = sandbox.token
    value["envdVersion"] = sandbox.service.envd_version
    value["sandboxID"] = sandbox.id
    value["templateID"] = sandbox.template.id
    if sandbox.traffic_token is not None:
        value["trafficAccessToken"] = sandbox.traffic_token
    return value


def listed(sandbox):
    value = {
        "alias": sandbox.template.name, "clientID": CLIENT_ID,
        "cpuCount": CPU_COUNT, "diskSizeMB": DISK_MB,
        "endAt": time_text(sandbox.ends),
        "envdVersion": sandbox.service.envd_version, "memoryMB": MEMORY_MB}
    if "metadata" in sandbox.options:
        value["metadata"] = dict(sorted(sandbox.options["metadata"].items()))
    value.update({
        "sandboxID": sandbox.id, "startedAt": time_text(sandbox.started),
        "state": sandbox.state, "templateID": sandbox.template.id,
        "volumeMounts": []})
    return value


def detail(sandbox):
    value = listed(sandbox)
    if sandbox.state == "paused":
        del value["volumeMounts"]
    if sandbox.token is not None:
        value["envdAccessToken"] = sandbox.token
    if "allow_internet_access" in sandbox.options:
        value["allowInternetAccess"] = sandbox.options["allow_internet_access"]
    if sandbox.options.get("network"):
        value["network"] = sandbox.options["network"]
    value["lifecycle"] = {"autoResume": sandbox.auto_resume,
                          "onTimeout": "pause" if sandbox.auto_pause else "kill"}
    return dict(sorted(value.items()))
