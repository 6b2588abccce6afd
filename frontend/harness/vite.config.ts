import { defineConfig } from "vite";

/** A page with nothing but the map, for tests and benchmarks; it is no part of the package. */
export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, minify: false },
});
