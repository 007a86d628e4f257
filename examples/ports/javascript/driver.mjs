// Speaks weir's protocol 1, as JSON lines, for weir.mjs: requests on standard input, answers on standard output.

import { ConfigError, Limiter, NEVER, POLICIES, mix32, xxh64 } from "./weir.mjs";

const HELLO = {
  protocol: 1,
  name: "weir-javascript",
  version: "1.0.0",
  language: "javascript",
  policies: POLICIES,
  can: ["max_keys", "peek", "refund", "sweep", "relimit", "cost2", "long_log", "int64", "xxh64", "mix32"],
  max_keys: "*",
};

/** A line that is not understood. */
class Misread extends Error {}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isSeq = (value) => Number.isSafeInteger(value) && value >= 0;

function field(message, name, is, what) {
  if (!is(message[name])) throw new Misread(`${name} is not ${what}`);
  return message[name];
}

const string = (message, name) => field(message, name, (value) => typeof value === "string", "a string");
const array = (message, name) => field(message, name, Array.isArray, "an array");
const object = (message, name) => field(message, name, isObject, "an object");

function number(message, name, { bits = 63n, absent } = {}) {
  if (absent !== undefined && !Object.hasOwn(message, name)) return absent;
  const text = string(message, name);
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text) || BigInt(text) >> bits) {
    throw new Misread(`${name} is not a number below 2^${bits}`);
  }
  return BigInt(text);
}

function limits(params) {
  const limit = (suffix) => ({
    permits: number(params, "permits" + suffix, { absent: 0n }),
    period: number(params, "period" + suffix, { absent: 0n }),
    burst: number(params, "burst" + suffix, { absent: 0n }),
  });
  return [limit(""), limit("2")];
}

/** What attempt() gives, or what refused() makes of the word of a ConfigError. */
function unlessRefused(attempt, refused) {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof ConfigError) return refused(error.word);
    throw error;
  }
}

function runStep(limiter, step) {
  if (!isObject(step)) throw new Misread("a step is not an object");
  const key = () => number(step, "key", { bits: 64n });
  const now = () => number(step, "now");
  const request = () => {
    const cost = number(step, "cost");
    return [now(), key(), cost, number(step, "cost2", { absent: cost })];
  };
  const op = string(step, "op");
  switch (op) {
    case "take":
    case "peek": {
      const answer = limiter[op](...request());
      return {
        outcome: answer.outcome,
        remaining: `${answer.remaining}`,
        retry_after: answer.retryAfter === NEVER ? "-1" : `${answer.retryAfter}`,
        reset_after: `${answer.resetAfter}`,
        delay: `${answer.delay}`,
        binding: answer.binding,
      };
    }
    case "refund":
      return { outcome: limiter.refund(...request()) };
    case "relimit": {
      const [first, second] = limits(object(step, "params"));
      return { outcome: unlessRefused(() => limiter.relimit(now(), first, second), (word) => word) };
    }
    case "forget":
      limiter.forget(key());
      return { outcome: "allow" };
    case "sweep":
      return { keys: `${limiter.sweep(now())}` };
    case "keys":
      return { keys: `${limiter.size}` };
    default:
      throw new Misread(`unknown op ${op}`);
  }
}

function hash(message) {
  const name = string(message, "hash");
  if (name === "mix32") return mix32(Number(number(message, "in", { bits: 32n })));
  if (name !== "xxh64") throw new Misread(`unknown hash ${name}`);
  const hex = string(message, "hex");
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new Misread("hex is not bytes in lower-case hex");
  return xxh64(Uint8Array.from(Buffer.from(hex, "hex")), number(message, "seed", { bits: 64n }));
}

let open = {}; // the case that is open, where more steps follow: seq and limiter

function runSteps(message) {
  const { seq, limiter } = open;
  open = {}; // closed if a step is not understood
  const results = array(message, "steps").map((step) => runStep(limiter, step));
  open = { seq, limiter };
  return { seq, results };
}

function answer(message) {
  const command = string(message, "cmd");
  if (command === "hello") {
    if (message.protocol !== 1) throw new Misread("only protocol 1 is spoken here");
    return HELLO;
  }
  const seq = field(message, "seq", isSeq, "a whole number");
  switch (command) {
    case "case": {
      open = {};
      const maxKeys = message.max_keys === "*" ? undefined : number(message, "max_keys");
      const [first, second] = limits(object(message, "params"));
      const policy = string(message, "policy");
      return unlessRefused(
        () => {
          open = { seq, limiter: new Limiter(policy, first, second, maxKeys) };
          return runSteps(message);
        },
        (word) => ({ seq, config_error: word }),
      );
    }
    case "steps":
      if (open.seq !== seq) throw new Misread("no such case is open");
      return runSteps(message);
    case "hash":
      return { seq, key: `${hash(message)}` };
    default:
      throw new Misread(`unknown command ${command}`);
  }
}

async function* linesOf(stream) {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}

for await (const line of linesOf(process.stdin)) {
  let message = {};
  let reply;
  try {
    const parsed = JSON.parse(line);
    if (!isObject(parsed)) throw new Misread("a line is not an object");
    message = parsed;
    if (message.cmd === "bye") break;
    reply = answer(message);
  } catch (error) {
    if (!(error instanceof Misread || error instanceof SyntaxError || error instanceof RangeError)) throw error;
    reply = { ...(isSeq(message.seq) && { seq: message.seq }), error: error.message };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
