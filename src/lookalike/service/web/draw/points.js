// @ts-check
/** Many points in one draw call of WebGL2, or by a plain canvas where there is no WebGL2. */

/**
 * @typedef {{zoom: number, x: number, y: number}} Camera the middle of the picture, in -1 to 1
 * @typedef {Object} Painter
 * @property {string} kind
 * @property {(xy: Float32Array) => void} places
 * @property {(rgba: Uint8Array, sizes: Float32Array) => void} looks
 * @property {(camera: Camera, width: number, height: number, ratio: number) => void} paint
 * @property {() => void} free
 */

const VERTEX = `#version 300 es
in vec2 place; in vec4 color; in float size;
uniform vec2 scale; uniform vec2 middle; uniform float ratio;
out vec4 tint;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = color.a > 0.0 ? size * ratio : 0.0;
  tint = color;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; out vec4 pixel;
void main() {
  float away = length(gl_PointCoord - 0.5);
  if (away > 0.5 || tint.a == 0.0) discard;
  float alpha = tint.a * (1.0 - smoothstep(0.36, 0.5, away));
  pixel = vec4(tint.rgb * alpha, alpha);
}`;

/** Pixels per unit: the square from -1 to 1 fills the shorter side. */
export function pixels(camera, width, height) {
  return (Math.min(width, height) / 2) * 0.94 * camera.zoom;
}

/** @param {HTMLCanvasElement} canvas @returns {Painter} */
export function createPainter(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  return (gl && webgl(canvas, gl)) ?? flat(canvas);
}

/** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl @returns {Painter|null} */
function webgl(canvas, gl) {
  const program = gl.createProgram();
  for (const [type, source] of /** @type {const} */ ([[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]])) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const at = (name) => gl.getUniformLocation(program, name);
  const [scale, middle, ratioAt] = [at("scale"), at("middle"), at("ratio")];
  const buffer = (name, width, type, unit) => {
    const made = gl.createBuffer();
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, type, unit, 0, 0);
    return (data) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, made);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    };
  };
  const putPlaces = buffer("place", 2, gl.FLOAT, false);
  const putColors = buffer("color", 4, gl.UNSIGNED_BYTE, true);
  const putSizes = buffer("size", 1, gl.FLOAT, false);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  let n = 0;
  return {
    kind: "webgl2",
    places(xy) {
      n = xy.length / 2;
      putPlaces(xy);
    },
    looks(rgba, sizes) {
      putColors(rgba);
      putSizes(sizes);
    },
    paint(camera, width, height, ratio) {
      const one = pixels(camera, width, height);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(scale, (2 * one) / width, (2 * one) / height);
      gl.uniform2f(middle, camera.x, camera.y);
      gl.uniform1f(ratioAt, ratio * Math.min(2.5, Math.max(1, camera.zoom ** 0.4)));
      gl.drawArrays(gl.POINTS, 0, n);
    },
    free() {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

/** @param {HTMLCanvasElement} canvas @returns {Painter} */
function flat(canvas) {
  const context = canvas.getContext("2d");
  /** @type {Float32Array} */
  let xy = new Float32Array(0);
  /** @type {{rgba: Uint8Array, sizes: Float32Array}} */
  let looks = { rgba: new Uint8Array(0), sizes: new Float32Array(0) };
  return {
    kind: "2d",
    places(given) {
      xy = given;
    },
    looks(rgba, sizes) {
      looks = { rgba, sizes };
    },
    paint(camera, width, height, ratio) {
      if (!context) return;
      const one = pixels(camera, width, height);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      let last = -1;
      const { rgba, sizes } = looks;
      for (let i = 0; i < xy.length / 2; i += 1) {
        if (!rgba[4 * i + 3]) continue;
        const x = width / 2 + (xy[2 * i] - camera.x) * one;
        const y = height / 2 - (xy[2 * i + 1] - camera.y) * one;
        if (x < 0 || y < 0 || x > width || y > height) continue;
        const color = (rgba[4 * i] << 16) | (rgba[4 * i + 1] << 8) | rgba[4 * i + 2];
        if (color !== last) context.fillStyle = `#${color.toString(16).padStart(6, "0")}`;
        last = color;
        const size = sizes[i];
        context.fillRect(x - size / 2, y - size / 2, size, size);
      }
    },
    free() {},
  };
}
