"""The messages of process.Process."""

from protobuf import Field, Message

SIGNALS = {0: "SIGNAL_UNSPECIFIED", 9: "SIGNAL_SIGKILL", 15: "SIGNAL_SIGTERM"}

EMPTY = Message("Empty")
SIZE = Message("PTY.Size", Field(1, "cols", "uint32"), Field(2, "rows", "uint32"))
PTY = Message("PTY", Field(1, "size", SIZE))
CONFIG = Message(
    "ProcessConfig",
    Field(1, "cmd", "string"),
    Field(2, "args", "string", repeated=True),
    Field(3, "envs", "map"),
    Field(4, "cwd", "string", optional=True))
SELECTOR = Message(
    "ProcessSelector",
    Field(1, "pid", "uint32", optional=True),
    Field(2, "tag", "string", optional=True))
INPUT = Message(
    "ProcessInput",
    Field(1, "stdin", "bytes", optional=True),
    Field(2, "pty", "bytes", optional=True))

START_EVENT = Message("StartEvent", Field(1, "pid", "uint32"))
DATA_EVENT = Message(
    "DataEvent",
    Field(1, "stdout", "bytes", optional=True),
    Field(2, "stderr", "bytes", optional=True),
    Field(3, "pty", "bytes", optional=True))
END_EVENT = Message(
    "EndEvent",
    Field(1, "exit_code", "sint32"),
    Field(2, "exited", "bool"),
    Field(3, "status", "string"),
    Field(4, "error", "string", optional=True))
EVENT = Message(
    "ProcessEvent",
    Field(1, "start", START_EVENT),
    Field(2, "data", DATA_EVENT),
    Field(3, "end", END_EVENT),
    Field(4, "keepalive", EMPTY))
EVENT_RESPONSE = Message("StartResponse", Field(1, "event", EVENT))

START_REQUEST = Message(
    "StartRequest",
    Field(1, "process", CONFIG),
    Field(2, "pty", PTY),
    Field(3, "tag", "string", optional=True),
    Field(4, "stdin", "bool", optional=True))
CONNECT_REQUEST = Message("ConnectRequest", Field(1, "process", SELECTOR))
CLOSE_STDIN_REQUEST = Message("CloseStdinRequest", Field(1, "process", SELECTOR))
LIST_REQUEST = Message("ListRequest")
PROCESS_INFO = Message(
    "ProcessInfo",
    Field(1, "config", CONFIG),
    Field(2, "pid", "uint32"),
    Field(3, "tag", "string", optional=True))
LIST_RESPONSE = Message(
    "ListResponse", Field(1, "processes", PROCESS_INFO, repeated=True))
SEND_INPUT_REQUEST = Message(
    "SendInputRequest", Field(1, "process", SELECTOR), Field(2, "input", INPUT))
SEND_SIGNAL_REQUEST = Message(
    "SendSignalRequest",
    Field(1, "process", SELECTOR),
    Field(2, "signal", "enum", values=SIGNALS))
UPDATE_REQUEST = Message(
    "UpdateRequest", Field(1, "process", SELECTOR), Field(2, "pty", PTY))
STREAM_INPUT_REQUEST = Message(
    "StreamInputRequest",
    Field(1, "start", Message("StartEvent", Field(1, "process", SELECTOR))),
    Field(2, "data", Message("DataEvent", Field(2, "input", INPUT))),
    Field(3, "keepalive", EMPTY))
