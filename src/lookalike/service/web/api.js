// @ts-check
/** Calls to the server: JSON, the bytes of the map, jobs, and errors as problem documents. */

export class ProblemError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.title);
    this.problem = problem;
  }
}

const TOKEN = "lookalike-token";

/** @param {string} token */
export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** @returns {Object<string, string>} */
export function authorization() {
  const token = window.lookalikeToken ?? sessionStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/**
 * Ask the server; throws ProblemError, or AbortError when the signal fires.
 *
 * @param {string} method
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function send(method, path, body, signal) {
  const headers = authorization();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal,
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ProblemError({
      title: "The server does not answer",
      status: 0,
      needed: "a running server",
      found: "no answer",
      hint: "Is `lookalike serve` still running? Your question is kept: try again",
    });
  }
  if (!response.ok) throw new ProblemError(await readProblem(response));
  return response;
}

/** @param {Response} response @returns {Promise<Problem>} */
export async function readProblem(response) {
  try {
    const found = await response.json();
    if (typeof found.title === "string") return { ...found, status: response.status };
  } catch {
    // no JSON: say what is known
  }
  return { title: response.statusText || "The server refused", status: response.status };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} the document; `{job}` while the server is still working on it
 */
export async function call(method, path, body, signal) {
  const response = await send(method, path, body, signal);
  if (response.status === 204) return null;
  const type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("application/octet-stream")) return readMap(await response.arrayBuffer());
  return response.json();
}

/**
 * A map: one line of JSON, then x and y as float32.
 *
 * @param {ArrayBuffer} buffer
 */
export function readMap(buffer) {
  const bytes = new Uint8Array(buffer);
  const end = bytes.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const floats = new Float32Array(buffer.slice(end + 1));
  const n = head.rows;
  const ids = Array.isArray(head.ids) ? head.ids : Array.from({ length: n }, (_, i) => i);
  return { ...head, ids, x: floats.subarray(0, n), y: floats.subarray(n, 2 * n) };
}

/** @param {string} text base64 @returns {Uint8Array<ArrayBuffer>} */
export function readBytes(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i += 1) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

/**
 * Follow a job to its end by server-sent events, read from a stream since an EventSource cannot
 * carry a token.
 *
 * @param {string} id
 * @param {(job: Job) => void} told
 * @param {AbortSignal} [signal]
 * @returns {Promise<Job>} the job when it has ended
 */
export async function follow(id, told, signal) {
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  const response = await send("GET", `${path}/events`, undefined, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value.replaceAll("\r", "");
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length) told(JSON.parse(data.map((line) => line.slice(5)).join("\n")));
    }
  }
  return call("GET", path, undefined, signal);
}
