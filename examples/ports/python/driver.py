"""Speaks weir's protocol 1, as JSON lines, for weir.py: requests on standard input, answers on standard output."""

import json
import re
import sys

from weir import NEVER, POLICIES, ConfigError, Limit, Limiter, mix32, xxh64

HELLO = {
    "protocol": 1,
    "name": "weir-python",
    "version": "1.0.0",
    "language": "python",
    "policies": list(POLICIES),
    "can": ["max_keys", "peek", "refund", "sweep", "relimit", "cost2", "long_log", "int64", "xxh64", "mix32"],
    "max_keys": "*",
}


class Misread(Exception):
    """A line that is not understood."""


def field(message, name, kind):
    value = message.get(name)
    if type(value) is not kind:
        raise Misread(f"{name} is not a {kind.__name__}")
    return value


def number(message, name, bits=63, absent=None):
    if name not in message and absent is not None:
        return absent
    text = field(message, name, str)
    if not re.fullmatch("0|[1-9][0-9]{0,19}", text) or int(text) >> bits:
        raise Misread(f"{name} is not a number below 2^{bits}")
    return int(text)


def limits(params):
    names = ("permits", "period", "burst")
    return [Limit(*(number(params, name + suffix, absent=0) for name in names)) for suffix in ("", "2")]


def run_step(limiter, step):
    if type(step) is not dict:
        raise Misread("a step is not an object")
    op = field(step, "op", str)
    if op == "keys":
        return {"keys": str(len(limiter))}
    if op == "forget":
        limiter.forget(number(step, "key", 64))
        return {"outcome": "allow"}
    now = number(step, "now")
    if op == "sweep":
        return {"keys": str(limiter.sweep(now))}
    if op == "relimit":
        first, second = limits(field(step, "params", dict))
        try:
            return {"outcome": limiter.relimit(now, first, second)}
        except ConfigError as refusal:
            return {"outcome": str(refusal)}
    if op not in ("take", "peek", "refund"):
        raise Misread(f"unknown op {op!r}")
    key, cost = number(step, "key", 64), number(step, "cost")
    answer = getattr(limiter, op)(now, key, cost, number(step, "cost2", absent=cost))
    if op == "refund":
        return {"outcome": answer}
    return {
        "outcome": answer.outcome,
        "remaining": str(answer.remaining),
        "retry_after": "-1" if answer.retry_after == NEVER else str(answer.retry_after),
        "reset_after": str(answer.reset_after),
        "delay": str(answer.delay),
        "binding": answer.binding,
    }


class Driver:
    def __init__(self):
        self.seq = self.limiter = None  # the case that is open, where more steps follow

    def answer(self, message):
        command = field(message, "cmd", str)
        if command == "hello":
            if field(message, "protocol", int) != 1:
                raise Misread("only protocol 1 is spoken here")
            return HELLO
        seq = field(message, "seq", int)
        if command == "case":
            self.seq, self.limiter = seq, None
            max_keys = None if message.get("max_keys") == "*" else number(message, "max_keys")
            first, second = limits(field(message, "params", dict))
            steps = field(message, "steps", list)
            try:
                self.limiter = Limiter(field(message, "policy", str), first, second, max_keys)
            except ConfigError as refusal:
                return {"seq": seq, "config_error": str(refusal)}
            return self.run(steps)
        if command == "steps":
            if self.limiter is None or seq != self.seq:
                raise Misread("no such case is open")
            return self.run(field(message, "steps", list))
        if command == "hash":
            return {"seq": seq, "key": str(self.hash(message))}
        raise Misread(f"unknown command {command!r}")

    def run(self, steps):
        try:
            return {"seq": self.seq, "results": [run_step(self.limiter, step) for step in steps]}
        except Misread:
            self.limiter = None
            raise

    def hash(self, message):
        name = field(message, "hash", str)
        if name == "mix32":
            return mix32(number(message, "in", 32))
        if name != "xxh64":
            raise Misread(f"unknown hash {name!r}")
        text = field(message, "hex", str)
        if not re.fullmatch("([0-9a-f]{2})*", text):
            raise Misread("hex is not bytes in lower-case hex")
        return xxh64(bytes.fromhex(text), number(message, "seed", 64))


def main():
    driver = Driver()
    for line in sys.stdin.buffer:
        message = {}
        try:
            message = json.loads(line.decode())
            if type(message) is not dict:
                message = {}
                raise Misread("a line is not an object")
            if message.get("cmd") == "bye":
                return
            answer = driver.answer(message)
        except (Misread, ValueError, RecursionError) as trouble:
            answer = {"error": str(trouble)}
            if type(message.get("seq")) is int:
                answer["seq"] = message["seq"]
        print(json.dumps(answer, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
