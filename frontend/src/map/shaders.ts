/** A point is a square of pixels in which the second program draws shape, rim, ring and glow. */

import { FOUND, HOLLOW, KNOWN, SELECTED } from "./scene";

/** Looks are a texture of so many columns; the rows for the looks before come first. */
export const LOOKS_PER_ROW = 256;
export const SHAPES = ["disc", "square", "triangle", "diamond", "ring"] as const;

const FLAGS = `
const uint KNOWN = ${KNOWN}u;
const uint HOLLOW = ${HOLLOW}u;
const uint SELECTED = ${SELECTED}u;
const uint FOUND = ${FOUND}u;
`;

export const VERTEX = `#version 300 es
precision highp float;
precision highp int;
${FLAGS}
layout(location = 0) in vec2 position;
layout(location = 1) in uint state;
layout(location = 2) in uint flags;
uniform vec2 center;
uniform vec2 clipPerUnit;
uniform float radius;
uniform float pixel;
uniform float opacity;
uniform float mixing;
uniform float glow;
uniform float ring;
uniform float dim;
uniform ivec2 counts;
uniform int textureRows;
uniform vec3 gray;
uniform sampler2D looks;
flat out vec4 color;
flat out vec3 haloColor;
flat out float halo;
flat out float bounds;
flat out int shape;
flat out int mark;
flat out uint rims;

vec4 look(uint value, int count, int first) {
  if (int(value) >= count) return vec4(gray, 0.0);
  return texelFetch(looks, ivec2(int(value) % ${LOOKS_PER_ROW}, first + int(value) / ${LOOKS_PER_ROW}), 0);
}

void main() {
  uint before = state & 0xffffu;
  uint now = state >> 16;
  vec4 old = look(before, counts.x, 0);
  vec4 next = look(now, counts.y, textureRows);
  bool changed = before != now;
  bool selected = (flags & SELECTED) != 0u;
  color = vec4(mix(old.rgb, next.rgb, mixing), dim > 0.0 && !selected ? 0.3 * opacity : opacity);
  haloColor = next.rgb;
  halo = changed ? glow : 0.0;
  // On a point of a few pixels neither shapes nor rims nor rings can be told apart; they would only hide the colors.
  bool small = radius < 2.0 * pixel;
  shape = small ? 0 : int(next.a * 255.0 + 0.5);
  rims = small ? 0u : flags & (KNOWN | HOLLOW);
  mark = (flags & FOUND) != 0u ? 1 : changed && ring > 0.0 ? 2 : selected && !small ? 3 : 0;
  bounds = (shape == 0 ? radius : 1.25 * radius) + 0.5 + (small ? 0.0 : pixel);
  if (mark > 0) bounds = radius + 5.0 * pixel;
  if (halo > 0.0) bounds = max(bounds, 2.0 * radius + 7.0 * pixel);
  gl_Position = vec4((position - center) * clipPerUnit, 0.0, 1.0);
  gl_PointSize = 2.0 * bounds;
}
`;

export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
${FLAGS}
flat in vec4 color;
flat in vec3 haloColor;
flat in float halo;
flat in float bounds;
flat in int shape;
flat in int mark;
flat in uint rims;
uniform float radius;
uniform float pixel;
uniform vec3 ink;
uniform vec3 paper;
uniform vec3 accent;
uniform vec3 foundColor;
out vec4 result;

// Distance to the edge of the shape, in device pixels; negative inside.
float edge(vec2 p) {
  if (shape == 1) return max(abs(p.x), abs(p.y)) - 0.87 * radius;
  if (shape == 2) return max(p.y, 0.866 * abs(p.x) - 0.5 * p.y) - 0.62 * radius;
  if (shape == 3) return (abs(p.x) + abs(p.y)) * 0.7071 - 0.84 * radius;
  if (shape == 4) return abs(length(p) - 0.7 * radius) - 0.3 * radius;
  return length(p) - radius;
}

float covered(float distance) {
  return clamp(0.5 - distance, 0.0, 1.0);
}

void lay(vec3 rgb, float alpha) {
  result = vec4(rgb, 1.0) * alpha + result * (1.0 - alpha);
}

void main() {
  vec2 p = (2.0 * gl_PointCoord - 1.0) * bounds;
  // A line of paper around points that are large enough tells apart those that lie on each other.
  float line = radius < 2.0 * pixel ? 0.0 : pixel;
  if (shape == 0 && mark == 0 && rims == 0u && halo == 0.0) { // nearly all points of a large map
    float body = covered(length(p) - radius);
    result = color.a * (vec4(color.rgb, 1.0) * body + vec4(paper, 1.0) * (covered(length(p) - radius - line) - body));
    return;
  }
  float away = edge(p);
  float rim = max(pixel, 0.3 * radius);
  result = vec4(0.0);
  lay(haloColor, 0.75 * halo * smoothstep(bounds, radius, length(p)));
  lay(paper, color.a * covered(away - line));
  float inner = covered(away + rim);
  float fill = (rims & HOLLOW) != 0u ? covered(away) - 0.9 * inner : covered(away);
  lay(color.rgb, color.a * fill);
  if ((rims & KNOWN) != 0u) lay(ink, color.a * (covered(away) - inner));
  if (mark > 0) {
    vec3 around = mark == 1 ? foundColor : mark == 2 ? ink : accent;
    lay(around, covered(abs(length(p) - radius - 3.0 * pixel) - (mark == 3 ? 0.6 : 1.0) * pixel));
  }
}
`;
