// The settings of a run. The server describes them in settings.json, so that none stands here.

import {element} from "./blanks.js";

const list = text => text.split(",").map(s => s.trim()).filter(Boolean);

// value is what JSON has for the text of a field, undefined for none.
function value(schema, text) {
  if (text === "") return undefined;
  switch (schema.type) {
    case "boolean": return {true: true, false: false}[text] ?? text;
    case "array": return list(text);
    case "object": return Object.fromEntries(list(text).map(s => {
      const [name, ...rest] = s.split("=");
      const v = rest.join("=");
      return [name, v !== "" && isFinite(v) ? +v : v];
    }));
    case "integer": case "number": return isFinite(text) ? +text : text; // the server says what is wrong
  }
  return text;
}

export class Settings {
  // fields is what the server says of them, into is where their inputs go. changed is called after
  // a change.
  constructor(into, fields, changed) {
    this.schemas = Object.fromEntries(fields.map(f => [f.field, f]));
    this.inputs = {};
    const groups = {};
    for (const schema of fields) {
      const name = schema.field, input = this.input(name, schema);
      input.addEventListener("change", changed);
      this.inputs[name] = input;
      const doc = element("small", "", schema.doc);
      doc.id = "doc-" + name;
      input.setAttribute("aria-describedby", doc.id);
      groups[schema.group] ??= element("div", "fields");
      groups[schema.group].append(element("label", "", element("span", "", name.replaceAll("_", " ")), input, doc));
    }
    for (const [name, list] of Object.entries(groups)) {
      const group = element("details", "", element("summary", "", element("h3", "", name)), list);
      group.open = !matchMedia("(max-width: 34rem)").matches;
      into.append(group);
    }
  }

  input(name, schema) {
    const options = schema.choices ?? (schema.type === "boolean" ? [false, true] : null);
    if (!options) {
      const e = element("input");
      e.placeholder = name === "seed" ? "a new one each time" : String(schema.default ?? "");
      if (schema.type === "array") e.placeholder = "words, separated by commas";
      if (schema.type === "object") e.placeholder = "name=value, …";
      if (schema.type === "integer") e.inputMode = "numeric";
      if (schema.type === "number") e.inputMode = "decimal";
      return e;
    }
    const e = element("select");
    for (const o of options) {
      const item = element("option", "", schema.type === "boolean" ? ({true: "yes", false: "no"}[o] ?? o) : o);
      item.value = String(o) === String(schema.default ?? false) ? "" : o; // no request has a default
      e.append(item);
    }
    e.value = "";
    return e;
  }

  // texts are the settings that differ from the defaults, as texts by name.
  get texts() {
    return Object.fromEntries(Object.entries(this.inputs).map(([k, e]) => [k, e.value.trim()])
      .filter(([k, v]) => v !== "" && v !== String(this.schemas[k].default ?? "")));
  }

  set texts(texts) {
    for (const [k, e] of Object.entries(this.inputs)) {
      e.value = texts[k] ?? "";
      if (e.selectedIndex < 0) e.value = ""; // the default, or no choice of this server
    }
  }

  put(name, v) {
    if (this.inputs[name]) this.texts = {...this.texts, [name]: v};
  }

  // request has the settings as a request does. A seed stays a text.
  request(texts) {
    return Object.fromEntries(Object.entries(texts).filter(([k]) => k in this.inputs)
      .map(([k, v]) => [k, k === "seed" ? v : value(this.schemas[k], v)]));
  }
}

// rules are the settings of a run that say what may go into a single blank, and how likely that is.
export const rules = ["vocab", "case", "ban", "allow", "no_repeat", "temperature", "energy", "long"];

// masking are those that say which words are blanked out.
export const masking = /^(mask_|keep_|stop_words|span_offsets|m.._(edits|drop|similarity))/;

const quote = s => /^[\w./:=,-]+$/.test(s) ? s : `'${s.replaceAll("'", "'\\''")}'`;

// command is what a shell runs to get the same fillings. schemas are the settings by their fields.
export function command(text, texts, model, schemas) {
  const words = ["infill", "fill"];
  if (model !== "default") words.push("--model", quote(model));
  for (const [name, v] of Object.entries(texts)) {
    const {name: own, type} = schemas[name], add = word => words.push("--" + own, word);
    if (type === "boolean") words.push(`--${own}=${v}`);
    else if (type === "object") list(v).forEach(p => add(quote(p)));
    else if (name === "allow") add(`<(printf '%s\\n' ${list(v).map(quote).join(" ")})`); // a file
    else add(quote(type === "array" ? list(v).join(",") : v));
  }
  if (text.startsWith("-")) words.push("--");
  const line = [...words, quote(text)].join(" ");
  return model === "default" ? line
    : `${line}  # ${quote(model)} is the server's name for the model`;
}
