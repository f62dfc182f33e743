"""The rules of a sandbox's outgoing traffic: checked and kept, not enforced."""

import ipaddress

from api_errors import ApiError

ALL = "0.0.0.0/0"


def network_of(text):
    """The address or block that a selector names, None for anything else."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def unspecified(text):
    return text != ALL and ipaddress.ip_address(text.partition("/")[0]).is_unspecified


def check(network):
    deny = network.get("denyOut") or []
    for selector in deny:
        if network_of(selector) is None or unspecified(selector):
            raise ApiError(400, f"invalid denied CIDR {selector}")
    names_a_domain = False
    for selector in network.get("allowOut") or []:
        if network_of(selector) is None:
            names_a_domain = True
        elif unspecified(selector):
            raise ApiError(400, f"invalid allowed address {selector}")
    if names_a_domain and ALL not in deny:
        raise ApiError(400, "When specifying allowed domains in allow out, you must "
                       "include 'ALL_TRAFFIC' in deny out to block all other traffic.")
    if "rules" in network:
        raise ApiError(400, "Network transform rules are not available for your team.")
