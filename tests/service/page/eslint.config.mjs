// Style of the explorer page; the browser needs none of this. Checked by `make checkweb`.
const browser = Object.fromEntries(
  `AbortController Blob CSS Event FormData HTMLCanvasElement Intl MutationObserver PointerEvent ResizeObserver Response TextDecoder
  TextDecoderStream URL URLSearchParams atob cancelAnimationFrame clearTimeout document fetch getComputedStyle history
  localStorage location matchMedia navigator queueMicrotask requestAnimationFrame sessionStorage setInterval setTimeout window
  XMLHttpRequest`
    .split(/\s+/)
    .map((name) => [name, "readonly"]),
);

export default [
  {
    files: ["src/lookalike/service/web/**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: browser },
    linterOptions: { reportUnusedDisableDirectives: true },
    rules: {
      eqeqeq: "error",
      "no-undef": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-var": "error",
      "prefer-const": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-shadow": "error",
      "no-console": "error",
      "no-dupe-keys": "error",
      "no-unreachable": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "object-shorthand": "error",
      "prefer-template": "error",
      "max-lines": ["error", 400],
    },
  },
];
