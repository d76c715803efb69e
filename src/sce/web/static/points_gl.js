// Points drawn by WebGL 2.

const VERTEX = `#version 300 es
precision highp float;
precision highp usampler2D;
in vec3 a;
in vec3 b;
in uint ink;
uniform float mixed, size, fade;
uniform vec4 rows[3];
uniform vec2 page;
uniform vec3 background;
uniform sampler2D palette;
out vec3 color;
void main() {
  vec4 p = vec4(mix(a, b, mixed), 1.0);
  vec2 at = vec2(dot(rows[0], p), dot(rows[1], p));
  float depth = clamp(dot(rows[2], p) / 131072.0, -0.99, 0.99);
  gl_Position = ink == 0u ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(2.0 * at.x / page.x - 1.0, 1.0 - 2.0 * at.y / page.y, -depth, 1.0);
  gl_PointSize = size;
  color = mix(texelFetch(palette, ivec2(int(ink) & 255, int(ink) >> 8), 0).rgb, background, fade);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 color;
uniform float opacity, size;
out vec4 result;
void main() {
  float away = length(gl_PointCoord - 0.5) * size;
  float cover = size < 2.0 ? 1.0 : clamp(size / 2.0 + 0.5 - away, 0.0, 1.0);
  if (cover < 0.02) discard;
  result = vec4(color, 1.0) * opacity * cover;
}`;

const UNIFORMS = ["mixed", "size", "fade", "rows", "page", "background", "palette", "opacity"];
const PALETTE_SIDE = [256, 256];

/** Whether this browser draws WebGL 2 with a graphics card, "software", or not at all. */
export function webglKind() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return "none";
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name) ? "software" : "hardware";
}

/** Draws points on a WebGL 2 canvas. */
export class GlPoints {
  kind = "webgl2";

  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.gl = gl;
    this.canvas = canvas;
    this.program = link(gl);
    this.buffers = Object.fromEntries(["a", "b", "ink", "top"].map((name) => [name, gl.createBuffer()]));
    this.texture = gl.createTexture();
    this.places = ["a", "b", "ink"].map((name) => gl.getAttribLocation(this.program, name));
    this.uniforms = Object.fromEntries(
      UNIFORMS.map((name) => [name, gl.getUniformLocation(this.program, name)]),
    );
  }

  /** The coordinates to draw, and those to mix them with, or null. */
  setPositions(a, b, dims) {
    const { gl } = this;
    this.dims = dims;
    for (const [name, data] of [["a", a], ["b", b ?? a]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    }
  }

  /** A number for each point, 0 for hidden, and the colours of the numbers as RGBA bytes. */
  setInk(ink, palette) {
    const { gl } = this;
    this.count = ink.length;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.ink);
    gl.bufferData(gl.ARRAY_BUFFER, ink, gl.DYNAMIC_DRAW);
    const texels = new Uint8Array(4 * PALETTE_SIDE[0] * PALETTE_SIDE[1]);
    texels.set(palette);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, ...PALETTE_SIDE, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  /** Draw every `step`-th point, then `top`, a list of points, over them. Returns how many were drawn. */
  draw(camera, style, step, top) {
    const { gl, uniforms } = this;
    const { width, height } = camera;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const m = camera.matrix();
    const background = style.background.map((value) => value / 255);
    gl.viewport(0, 0, width, height);
    gl.clearColor(...background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform4fv(uniforms.rows, [...m.slice(0, 4), ...m.slice(4, 8), ...m.slice(8, 12)]);
    gl.uniform2f(uniforms.page, width, height);
    gl.uniform3f(uniforms.background, ...background);
    gl.uniform1f(uniforms.mixed, style.mix);
    gl.uniform1i(uniforms.palette, 0);
    if (this.dims === 3) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.#look(style.size, this.dims === 3 ? 1 : style.opacity, style.fade);
    const every = Math.min(step, this.dims === 3 ? 42 : 63); // the stride of an attribute is a byte
    this.#point(every);
    gl.drawArrays(gl.POINTS, 0, Math.floor(this.count / every));
    if (top?.length) this.#drawTop(style, top);
    return Math.floor(this.count / every) + (top?.length ?? 0);
  }

  #drawTop(style, top) {
    const { gl } = this;
    if (this.dims === 3) gl.clear(gl.DEPTH_BUFFER_BIT);
    this.#look(style.size * style.topSize, Math.max(style.opacity, 0.85), 0);
    this.#point(1);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.top);
    if (this.lastTop !== top) gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, top, gl.DYNAMIC_DRAW);
    this.lastTop = top;
    gl.drawElements(gl.POINTS, top.length, gl.UNSIGNED_INT, 0);
  }

  #look(size, opacity, fade) {
    this.gl.uniform1f(this.uniforms.size, Math.max(size, 1));
    this.gl.uniform1f(this.uniforms.opacity, opacity * Math.min(1, size) ** 2);
    this.gl.uniform1f(this.uniforms.fade, fade);
  }

  #point(step) {
    const { gl, dims } = this;
    for (const [place, name] of [[this.places[0], "a"], [this.places[1], "b"]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, dims, gl.UNSIGNED_SHORT, false, 2 * dims * step, 0);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.ink);
    gl.enableVertexAttribArray(this.places[2]);
    gl.vertexAttribIPointer(this.places[2], 1, gl.UNSIGNED_SHORT, 2 * step, 0);
  }
}

function link(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error(`The graphics driver refused a shader: ${gl.getShaderInfoLog(shader)}`);
    }
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The graphics driver refused the program: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
