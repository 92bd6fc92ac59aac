// The stream of a run: POST /v1/fill and its events.

// A Refusal is an answer that is not a stream: too busy, a bad field, no key.
export class Refusal extends Error {
  constructor(status, type, message) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

// refusal is what an answer that is not ok says.
async function refusal(response) {
  const text = await response.text();
  let body = {};
  try { body = JSON.parse(text); } catch { /* a proxy's page */ }
  return new Refusal(response.status, body.error_type,
    body.error ?? `the server answered ${response.status} ${response.statusText}`);
}

const headers = key => key ? {Authorization: "Bearer " + key} : {};

// ask is the JSON of a path, which takes a request or none.
export async function ask(path, key, request, signal) {
  const response = await fetch(path, request ? {method: "POST", signal, body: encode(request),
    headers: {...headers(key), "Content-Type": "application/json"}} : {headers: headers(key)});
  if (!response.ok) throw await refusal(response);
  return response.json();
}

// run asks for a filling and calls on[event](data) for each event, in order.
export async function run(request, on, {key, signal}) {
  const response = await fetch("v1/fill", {
    method: "POST", signal, body: encode({...request, stream: true}),
    headers: {...headers(key), "Content-Type": "application/json", "Accept": "text/event-stream"},
  });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", ended = false;
  for (;;) {
    const {value, done} = await reader.read();
    if (done) break;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const text of events) {
      let name = "message", data = "";
      for (const line of text.split("\n")) {
        if (line.startsWith("event:")) name = line.slice(6).trim();
        if (line.startsWith("data:")) data += line.slice(5);
      }
      if (!data) continue; // a comment that keeps the connection alive
      const body = JSON.parse(data);
      if (name === "error") throw new Refusal(0, body.error_type, body.error);
      ended ||= name === "done";
      on[name]?.(body);
    }
  }
  if (!ended) throw new Refusal(0, "", "the connection ended before the run did");
}

// encode writes a request. Its seed is a text: a number of 64 bits does not fit a JavaScript number.
export function encode({seed, ...rest}) {
  const body = JSON.stringify(rest);
  return seed === undefined ? body : `${body.slice(0, -1)},"seed":${seed}}`;
}
