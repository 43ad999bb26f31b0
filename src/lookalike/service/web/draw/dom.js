// @ts-check
/**
 * A view returns a tree of plain nodes; `patch` makes the document look like it and leaves alone
 * what is already right, so that focus, drags and scroll positions survive a new answer.
 */

/**
 * @typedef {Object} VNode
 * @property {string} tag
 * @property {any} key
 * @property {Object<string, any>} props
 * @property {Array<VNode|string>} children
 */

const SVG = "http://www.w3.org/2000/svg";
const NO_ATTRIBUTE = new Set(["on", "css", "hook", "key", "data"]);
const AS_PROPERTY = new Set(["value", "checked", "disabled", "selected"]);

/**
 * Describe an element. Props: attributes, `on` (events), `css` (custom properties), `key`, and
 * `hook` with `mount(el, props)`, `update(el, props)` and `unmount(el)` for canvases, which find what
 * they draw in `data`; a hook that `owns` its element keeps the children it has.
 *
 * @param {string} tag
 * @param {Object<string, any>|null} [props]
 * @param {...any} inner nodes, texts, arrays of them; null and false are left out
 * @returns {VNode}
 */
export function h(tag, props, ...inner) {
  /** @type {Array<VNode|string>} */
  const flat = [];
  const add = (child) => {
    if (child === null || child === undefined || child === false || child === true) return;
    if (Array.isArray(child)) child.forEach(add);
    else flat.push(typeof child === "object" ? child : String(child));
  };
  add(inner);
  return { tag, key: props?.key ?? null, props: props ?? {}, children: flat };
}

/** A name that may break at "_" and ".", as names of columns do. @param {string} name */
export const breakable = (name) => name.split(/(?<=[_.])/).map((part, i) => [i ? h("wbr", null) : null, part]);

/**
 * Make the children of an element those of the tree.
 *
 * @param {Element} root
 * @param {any} tree node or array of nodes
 */
export function patch(root, tree) {
  children(root, h("root", null, tree).children);
}

/** Make an element what it should be, from what it was; `value` and its like come after its children. @param {any} el @param {VNode} node */
function apply(el, node) {
  const old = el._props ?? {};
  const props = node.props;
  for (const name of Object.keys(old)) {
    if (!(name in props) && !NO_ATTRIBUTE.has(name)) {
      if (AS_PROPERTY.has(name)) el[name] = name === "value" ? "" : false;
      el.removeAttribute(name);
    }
  }
  for (const [name, value] of Object.entries(props)) {
    if (NO_ATTRIBUTE.has(name) || AS_PROPERTY.has(name)) continue;
    if (old[name] === value) continue;
    if (value === null || value === undefined || value === false) el.removeAttribute(name);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [name, value] of Object.entries(props.css ?? {})) {
    if (old.css?.[name] !== value) el.style.setProperty(name, String(value));
  }
  if (props.on || el._on) listen(el, props.on ?? {});
  el._props = props;
}

/** @param {any} el @param {Object<string, Function>} on */
function listen(el, on) {
  el._on ??= {};
  for (const name of Object.keys(on)) {
    if (!(name in el._on)) {
      el.addEventListener(name, (event) => el._on[name]?.(event));
    }
  }
  for (const name of Object.keys(el._on)) el._on[name] = on[name];
  Object.assign(el._on, on);
}

/** Values come after the children: a select takes a value only when it has the option. */
function values(el, node, before) {
  for (const name of AS_PROPERTY) {
    if (!(name in node.props)) continue;
    const value = node.props[name] ?? (name === "value" ? "" : false);
    if (name === "value" && el.type === "number" && Number(el.value) === Number(value) && el.value) {
      continue; // "1." is on its way to 1.5
    }
    if (name === "value" && value === before && typing(el, node.props.on)) continue;
    if (el.position === -1 || (el[name] !== value && String(el[name]) !== String(value))) el[name] = value; // or a bar without a value, which reads as 0
  }
}

/** Whether somebody may be typing what is read when it is done; an answer that arrives must not end it. */
function typing(el, on) {
  return el === document.activeElement && el.tagName === "INPUT" && on?.change && !on.input;
}

/** @param {VNode|string} node @param {boolean} inSvg @returns {any} */
function create(node, inSvg) {
  if (typeof node === "string") return document.createTextNode(node);
  const svg = inSvg || node.tag === "svg"; // no HTML is inside of a drawing
  const el = /** @type {any} */ (
    svg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag)
  );
  el._tag = node.tag;
  el._key = node.key;
  apply(el, node);
  for (const child of node.children) el.appendChild(create(child, svg));
  values(el, node, null);
  if (node.props.hook) queueMicrotask(() => node.props.hook.mount?.(el, node.props));
  return el;
}

/** @param {any} el @param {VNode} node */
function update(el, node) {
  const before = el._props?.value;
  apply(el, node);
  if (!node.props.hook?.owns) children(el, node.children);
  values(el, node, before ?? "");
  node.props.hook?.update?.(el, node.props);
}

/** @param {any} el */
function remove(el) {
  const unmount = el._props?.hook?.unmount;
  for (const inner of el.querySelectorAll?.("*") ?? []) inner._props?.hook?.unmount?.(inner);
  if (unmount) unmount(el);
  el.remove();
}

/** @param {any} el @param {VNode|string} node */
function fits(el, node) {
  if (typeof node === "string") return el.nodeType === 3;
  return el._tag === node.tag && el._key === node.key;
}

/** @param {any} root @param {Array<VNode|string>} nodes */
function children(root, nodes) {
  const inSvg = root.namespaceURI === SVG;
  const only = root.firstChild;
  if (nodes.length === 1 && typeof nodes[0] === "string" && only?.nodeType === 3 && !only.nextSibling) {
    if (only.data !== nodes[0]) only.data = nodes[0]; // most elements: one text
    return;
  }
  /** @type {Map<any, any>} */
  const keyed = new Map();
  for (const el of root.childNodes) if (el._key !== null && el._key !== undefined) keyed.set(el._key, el);
  let at = root.firstChild;
  for (const node of nodes) {
    const key = typeof node === "string" ? null : node.key;
    let el = key !== null ? keyed.get(key) : at;
    if (el && !fits(el, node)) el = null;
    if (key === null && el && el._key !== null && el._key !== undefined) el = null;
    if (!el) {
      el = create(node, inSvg);
      root.insertBefore(el, at);
    } else {
      if (el === at) at = at.nextSibling;
      else root.insertBefore(el, at);
      if (typeof node === "string") {
        if (el.data !== node) el.data = node;
      } else update(el, node);
    }
    if (el === at) at = at.nextSibling;
  }
  while (at) {
    const next = at.nextSibling;
    remove(at);
    at = next;
  }
}
