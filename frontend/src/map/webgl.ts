/** Points by WebGL2: everything per point lies in buffers, so a frame is a few calls however many points there are. */

import { colorsFor } from "./colors";
import type { Frame, Layer, Part } from "./layer";
import type { Scene } from "./scene";
import { FRAGMENT, LOOKS_PER_ROW, SHAPES, VERTEX } from "./shaders";
import type { Look } from "./types";

/** Everything that lives in the context, and is lost with it. */
interface Resources {
  program: WebGLProgram;
  uniforms: Map<string, WebGLUniformLocation | null>;
  points: WebGLVertexArrayObject;
  positions: WebGLBuffer;
  states: WebGLBuffer;
  flags: WebGLBuffer;
  front: WebGLBuffer;
  looks: WebGLTexture;
  textureRows: number;
}

/** Null if the browser has no WebGL2. `onRestored` is called when a lost context is back and everything loaded again. */
export function createWebglLayer(canvas: HTMLCanvasElement, scene: Scene, onRestored: () => void): Layer | null {
  const gl = canvas.getContext("webgl2", { antialias: false, depth: false });
  if (gl === null) return null;
  let own: Resources | null = prepare(gl);
  if (own === null) return null;
  const listening = new AbortController();
  const { signal } = listening;
  canvas.addEventListener(
    "webglcontextlost",
    (event) => {
      event.preventDefault(); // without this, the browser does not give it back
      own = null;
    },
    { signal },
  );
  canvas.addEventListener(
    "webglcontextrestored",
    () => {
      own = prepare(gl);
      for (const part of ["points", "values", "flags", "front"] as const) layer.load(part, scene);
      onRestored();
    },
    { signal },
  );
  const layer: Layer = {
    backend: "webgl2",
    load(part, from) {
      if (own !== null) load(gl, own, part, from);
    },
    draw(from, frame) {
      if (own === null || gl.isContextLost()) return false;
      draw(gl, own, from, frame);
      return true;
    },
    destroy() {
      listening.abort();
      own = null;
      gl.getExtension("WEBGL_lose_context")?.loseContext(); // frees the memory now, not at the next collection
    },
  };
  return layer;
}

function prepare(gl: WebGL2RenderingContext): Resources | null {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  const uniforms = new Map<string, WebGLUniformLocation | null>();
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(program, i)!;
    uniforms.set(name, gl.getUniformLocation(program, name));
  }
  const own = {
    program,
    uniforms,
    points: gl.createVertexArray(),
    positions: gl.createBuffer(),
    states: gl.createBuffer(),
    flags: gl.createBuffer(),
    front: gl.createBuffer(),
    looks: gl.createTexture(),
    textureRows: 1,
  };
  gl.bindVertexArray(own.points);
  gl.bindBuffer(gl.ARRAY_BUFFER, own.positions);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, own.states);
  gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, own.flags);
  gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_BYTE, 0, 0);
  for (const location of [0, 1, 2]) gl.enableVertexAttribArray(location);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, own.front);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return own;
}

function load(gl: WebGL2RenderingContext, own: Resources, part: Part, scene: Scene): void {
  const fill = (buffer: WebGLBuffer, data: Float32Array | Uint32Array | Uint8Array, use: number): void => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, use);
  };
  if (part === "points") fill(own.positions, scene.xy, gl.STATIC_DRAW);
  if (part === "flags") fill(own.flags, scene.flags, gl.DYNAMIC_DRAW);
  if (part === "front") {
    gl.bindVertexArray(own.points);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, scene.front, gl.DYNAMIC_DRAW);
  }
  if (part === "values") {
    fill(own.states, scene.states, gl.DYNAMIC_DRAW);
    own.textureRows = Math.max(Math.ceil(Math.max(scene.before.length, scene.looks.length) / LOOKS_PER_ROW), 1);
    const bytes = new Uint8Array(2 * own.textureRows * LOOKS_PER_ROW * 4);
    bytes.set(bytesOf(scene.before));
    bytes.set(bytesOf(scene.looks), bytes.length / 2);
    gl.bindTexture(gl.TEXTURE_2D, own.looks);
    const [width, height] = [LOOKS_PER_ROW, 2 * own.textureRows];
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }
}

/** Color and shape of each look, four bytes. */
function bytesOf(looks: Look[]): Uint8Array {
  const bytes = new Uint8Array(4 * looks.length);
  looks.forEach((look, i) => bytes.set([...look.color, SHAPES.indexOf(look.shape)], 4 * i));
  return bytes;
}

function draw(gl: WebGL2RenderingContext, own: Resources, scene: Scene, frame: Frame): void {
  const { width, height, ratio, scale } = frame;
  const colors = colorsFor(frame.dark);
  const set = (name: string, ...values: number[]): void => {
    const at = own.uniforms.get(name) ?? null;
    if (values.length === 1) gl.uniform1f(at, values[0]!);
    else if (values.length === 2) gl.uniform2f(at, values[0]!, values[1]!);
    else gl.uniform3f(at, values[0]! / 255, values[1]! / 255, values[2]! / 255);
  };
  gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT);
  gl.useProgram(own.program);
  gl.bindVertexArray(own.points);
  gl.bindTexture(gl.TEXTURE_2D, own.looks);
  set("center", frame.x, frame.y);
  set("clipPerUnit", (2 * scale) / width, (2 * scale) / height);
  set("radius", (frame.diameter / 2) * ratio);
  set("pixel", ratio);
  set("opacity", frame.opacity);
  set("mixing", frame.mix);
  set("glow", frame.glow);
  set("ring", frame.ring ? 1 : 0);
  set("dim", frame.dim ? 1 : 0);
  set("gray", ...colors.gray);
  set("ink", ...colors.ink);
  set("paper", ...colors.paper);
  set("accent", ...colors.accent);
  set("foundColor", ...colors.found);
  gl.uniform2i(own.uniforms.get("counts")!, scene.before.length, scene.looks.length);
  gl.uniform1i(own.uniforms.get("textureRows")!, own.textureRows);
  gl.drawArrays(gl.POINTS, 0, scene.count);
  // Rows that matter are drawn again, above those that came after them.
  if (scene.front.length > 0) gl.drawElements(gl.POINTS, scene.front.length, gl.UNSIGNED_INT, 0);
}
