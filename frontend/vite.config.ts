import { defineConfig, type BuildEnvironmentOptions } from "vite";

/** A notebook gets its widget as the text of one module and one style sheet, without anything beside them. */
const WIDGET: BuildEnvironmentOptions = {
  emptyOutDir: false,
  rollupOptions: {
    input: "src/widget.ts",
    preserveEntrySignatures: "strict",
    output: { entryFileNames: "widget.js", assetFileNames: "widget[extname]", inlineDynamicImports: true },
  },
};

/** The page goes into the Python package, which serves it; the folder is not committed. */
export default defineConfig(({ mode }) => ({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../src/cluewise/web/static",
    emptyOutDir: true,
    target: "es2022",
    // Small images would become data: addresses, which the page's content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    ...(mode === "widget" ? WIDGET : {}),
  },
}));
