# SPDX-License-Identifier: MIT
"""What this kernel offers to us, by its own files and sockets: taskscope is not asked.

A test that needs a source asks here.  So a source that is broken fails, where asking taskscope
whether it works would leave it out.
"""
import os
import pathlib
import random
import socket
import struct

CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 12, 21, 38, 39

NETLINK_CONNECTOR, NETLINK_GENERIC = 11, 16
NLMSG_ERROR, NLMSG_DONE, NLM_F_REQUEST = 2, 3, 1
CN_IDX_PROC, CN_VAL_PROC, PROC_CN_MCAST_LISTEN, PROC_EVENT_NONE = 1, 1, 1, 0
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME = 16, 3, 2


def has_capabilities(*numbers):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    effective = int(next(line.split()[1] for line in lines if line.startswith("CapEff:")), 16)
    return all(effective >> number & 1 for number in numbers)


def has_bpf():
    """Type information, and the right to load programs that trace."""
    return os.path.exists("/sys/kernel/btf/vmlinux") and (
        has_capabilities(CAP_SYS_ADMIN) or has_capabilities(CAP_BPF, CAP_PERFMON))


def answers(family, groups, kind, payload):
    """Sends one netlink message; gives the type and payload of each that comes back.

    The kernel answers while it is asked: what is not there afterwards does not come.
    """
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, family) as link:
            link.bind((0, groups))
            link.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST, 1, 0) + payload)
            while True:
                answer = link.recv(65536, socket.MSG_DONTWAIT)
                yield struct.unpack_from("=IH", answer)[1], answer[16:]
    except OSError:  # among them: nothing more to read
        return


def has_connector():
    """Whether process events come: who asks for them is told so.

    Answers go to everybody who listens, and others may ask: ours has our number, plus one.  It is a
    connector message (two numbers of whom, sequence, answer to, length) and an event (what, CPU,
    time, error).
    """
    number = random.getrandbits(31)
    request = struct.pack("=IIIIHHI", CN_IDX_PROC, CN_VAL_PROC, 0, number, 4, 0, PROC_CN_MCAST_LISTEN)
    if not has_capabilities(CAP_NET_ADMIN):
        return False
    for kind, answer in answers(NETLINK_CONNECTOR, CN_IDX_PROC, NLMSG_DONE, request):
        answer_to, what, error = struct.unpack_from("=12xI4xI12xI", answer)
        if kind == NLMSG_DONE and answer_to == number + 1 and what == PROC_EVENT_NONE:
            return error == 0
    return False


def has_taskstats():
    name = struct.pack("=HH10sxx", 14, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS")
    request = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0) + name
    if not has_capabilities(CAP_NET_ADMIN):
        return False
    kind, _ = next(answers(NETLINK_GENERIC, 0, GENL_ID_CTRL, request), (NLMSG_ERROR, b""))
    return kind == GENL_ID_CTRL


# The ways to follow a tree, best first, and what each needs.
WAYS_OFFERED = {
    "bpf": has_bpf,
    "connector": lambda: has_connector() and has_taskstats(),
    "procfs": lambda: True,
}
WAYS = [way for way, offered in WAYS_OFFERED.items() if offered()]
