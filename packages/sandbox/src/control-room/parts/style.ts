/**
 * CSS of the control room. It has the colors and shapes of the Tollgate service's pages, in light
 * and dark.
 */
export const CONTROL_ROOM_STYLESHEET = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f5f6f8, #11141a);
  --card: light-dark(#ffffff, #191d25);
  --text: light-dark(#1b2130, #e7eaf0);
  --quiet: light-dark(#566072, #a5aebd);
  --line: light-dark(#dde1e8, #2d3440);
  --edge: light-dark(#868f9e, #717b8b);
  --accent: light-dark(#2f5bd7, #93b2ff);
  --accent-strong: light-dark(#2449b3, #b3c9ff);
  --on-accent: light-dark(#ffffff, #0c1a3d);
  --tint: light-dark(#edf1fc, #1e2738);
  --good: light-dark(#136c2e, #8fdca6);
  --good-tint: light-dark(#e6f4ea, #17301f);
  --warning: light-dark(#7a4b00, #f2c46d);
  --warning-tint: light-dark(#fdf1dc, #372a12);
  --bad: light-dark(#a81c1c, #ffaaa4);
  --bad-tint: light-dark(#fdecec, #3a1c1e);
  --shadow: 0 1px 2px rgb(20 30 60 / 6%), 0 4px 16px rgb(20 30 60 / 5%);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace;
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  -webkit-text-size-adjust: 100%;
}
h1, h2, h3 { margin: 0 0 .5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: 1.625rem; } h2 { font-size: 1.125rem; } h3 { font-size: 1rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: .15em; }
a:hover { color: var(--accent-strong); }
code, pre, .code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
small, .quiet { color: var(--quiet); font-size: .875rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
main:focus { outline: none; }
.unseen, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip:focus { position: fixed; z-index: 2; top: .5rem; left: .5rem; padding: .5rem 1rem; border-radius: .5rem; background: var(--card); }

.bar { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center; padding: .625rem clamp(1rem, 4vw, 2rem); border-bottom: 1px solid var(--line); background: var(--card); }
.brand { display: inline-flex; gap: .625rem; align-items: center; color: inherit; font-weight: 650; letter-spacing: -.01em; text-decoration: none; white-space: nowrap; }
.brand:hover { color: inherit; }
.places ul { display: flex; flex-wrap: wrap; gap: .125rem; margin: 0; padding: 0; list-style: none; }
.places a { display: block; padding: .5rem .75rem; border-radius: .5rem; color: var(--quiet); text-decoration: none; }
.places a:hover { background: var(--page); color: var(--text); }
.places a[aria-current] { background: var(--tint); color: var(--accent); }
.clock { display: flex; flex-wrap: wrap; gap: .375rem; align-items: center; margin-left: auto; }
.clock time { padding-right: .5rem; font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
main { max-width: 76rem; margin: 0 auto; padding: clamp(1.25rem, 4vw, 2.25rem) clamp(1rem, 4vw, 2rem) 4rem; }
.heading { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; margin-bottom: 1.5rem; }
.heading > * { min-width: 0; }
.heading p { margin: 0; color: var(--quiet); }
.beside { font-size: .875rem; white-space: nowrap; }
.status { margin: 0 0 1.25rem; padding: .75rem 1rem; border-left: 4px solid var(--good); border-radius: .5rem; background: var(--good-tint); }
.status.bad { border-color: var(--bad); background: var(--bad-tint); }
.status p:last-child { margin: 0; }

.card { min-width: 0; padding: clamp(1rem, 3vw, 1.5rem); border: 1px solid var(--line); border-radius: .875rem; background: var(--card); box-shadow: var(--shadow); }
.card > :last-child, .card > form:last-child { margin-bottom: 0; }
.stack { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.25rem; align-items: start; }
.aside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 21rem); gap: 1.25rem; align-items: start; }
@media (max-width: 62rem) { .aside { grid-template-columns: minmax(0, 1fr); } }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(9.5rem, 100%), 1fr)); gap: .75rem; margin: 0 0 1.25rem; padding: 0; list-style: none; }
.figures li { padding: .875rem 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); box-shadow: var(--shadow); }
.figures strong { display: block; font-size: 1.375rem; font-variant-numeric: tabular-nums; letter-spacing: -.01em; overflow-wrap: anywhere; }
.figures .bad strong { color: var(--bad); } .figures .good strong { color: var(--good); }
.badge { display: inline-block; padding: .0625rem .5rem; border: 1px solid transparent; border-radius: 1rem; background: var(--tint); color: var(--accent); font-size: .8125rem; font-weight: 600; white-space: nowrap; }
.badge.good { background: var(--good-tint); color: var(--good); }
.badge.warning { background: var(--warning-tint); color: var(--warning); }
.badge.bad { background: var(--bad-tint); color: var(--bad); }
.badge.plain { border-color: var(--line); background: var(--page); color: var(--quiet); }
.empty { padding: 1rem 0; color: var(--quiet); text-align: center; }
.facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .375rem 1rem; margin: 0 0 1rem; }
.facts dt { color: var(--quiet); } .facts dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: .5rem; } }

form { margin: 0; }
.line { display: flex; flex-wrap: wrap; gap: .625rem; align-items: end; margin: 0 0 .75rem; }
nav.line { align-items: center; }
.line > label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .125rem; min-width: 0; max-width: 100%; }
label, legend { padding: 0; font-weight: 600; font-size: .9375rem; }
input:not([type="checkbox"], [type="radio"], [type="hidden"]), select, textarea { min-height: 2.5rem; max-width: 100%; padding: .375rem .625rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--card); color: inherit; font: inherit; font-weight: 400; }
input[type="number"] { width: 6rem; }
.grow { flex: 1 1 12rem; } .grow input { width: 100%; }
fieldset { min-width: 0; margin: 0 0 1rem; padding: 0; border: 0; }
.check { display: flex; gap: .625rem; align-items: flex-start; padding: .5rem 0; font-weight: 400; }
.check input { flex: none; width: 1.125rem; height: 1.125rem; margin: .2rem 0 0; accent-color: var(--accent); }
.check small { display: block; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.5rem; padding: .375rem 1rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--card); color: var(--text); font: inherit; font-weight: 550; text-decoration: none; white-space: nowrap; cursor: pointer; }
button:hover, .button:hover { border-color: var(--text); color: var(--text); }
.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.primary:hover { border-color: var(--accent-strong); background: var(--accent-strong); color: var(--on-accent); }
.danger { border-color: var(--bad); color: var(--bad); } .danger:hover { border-color: var(--bad); background: var(--bad-tint); color: var(--bad); }
.small { min-height: 2rem; padding: .125rem .625rem; font-size: .875rem; }
.chosen { border-color: var(--accent); background: var(--tint); color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }

table { width: 100%; border-collapse: collapse; }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-size: .875rem; font-weight: 550; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom-color: transparent; }
td { overflow-wrap: anywhere; } td time, td .amount { white-space: nowrap; }
.amount { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
@media (max-width: 48rem) {
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr + tr { margin-top: .875rem; padding-top: .875rem; border-top: 1px solid var(--line); }
  td { display: grid; grid-template-columns: 7.25rem minmax(0, 1fr); gap: .75rem; padding: .125rem 0; border: 0; }
  td::before { color: var(--quiet); content: attr(data-label); }
  td:first-child { display: block; font-weight: 600; } td:first-child::before { content: none; }
}

iframe.mail { display: block; width: 100%; height: 36rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; }

.timeline { margin: 0; padding: 0; list-style: none; }
.timeline > li { position: relative; display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: 0 2.25rem; padding: 0 0 1.125rem; }
.timeline > li::before { position: absolute; top: .75rem; bottom: -.75rem; left: 10.625rem; border-left: 2px solid var(--line); content: ""; }
.timeline > li:last-child::before { content: none; }
.timeline > li::after { position: absolute; top: .375rem; left: calc(10.625rem - .3125rem); width: .75rem; height: .75rem; border: 2px solid var(--edge); border-radius: 50%; background: var(--card); content: ""; }
.timeline .when { color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; text-align: right; }
.timeline .what { min-width: 0; }
.timeline h3, .timeline .what > p { margin: 0; }
.timeline h3 { display: flex; flex-wrap: wrap; gap: .25rem .625rem; align-items: center; font-size: 1rem; }
.timeline .good::after { border-color: var(--good); background: var(--good); }
.timeline .bad::after { border-color: var(--bad); background: var(--bad); }
.timeline .warning::after { border-color: var(--warning); background: var(--warning); }
.timeline .coming::before { border-left-style: dashed; }
.timeline .coming::after { background: var(--card); }
.timeline .now { padding-bottom: 1.125rem; }
.timeline .now::after { border-color: var(--accent); background: var(--accent); box-shadow: 0 0 0 4px var(--tint); }
.timeline .now .what { color: var(--accent); font-weight: 650; } .timeline .now .when { color: var(--accent); font-weight: 600; }
.timeline details { margin-top: .125rem; font-size: .875rem; }
.timeline details ul { margin: .25rem 0 0; padding-left: 1rem; }
.timeline .head { display: flex; gap: .25rem .75rem; align-items: flex-start; justify-content: space-between; }
.timeline .head form { margin-bottom: -.5rem; }
.timeline > li:last-child { padding-bottom: 0; }
@media (max-width: 40rem) {
  .timeline > li { display: block; padding-left: 1.5rem; }
  .timeline > li::before { left: .3125rem; } .timeline > li::after { left: 0; }
  .timeline .when { text-align: left; }
}
summary { color: var(--accent); cursor: pointer; }
.buttons + details { margin-top: .75rem; }
.head h3 { min-width: 0; }
.scroll { margin: 0; padding: .875rem 1rem; max-height: 34rem; overflow: auto; border-radius: .5rem; background: var(--page); font-family: var(--mono); font-size: .8125rem; line-height: 1.6; white-space: pre-wrap; overflow-wrap: anywhere; }
.scroll .key { color: var(--accent); } .scroll .text { color: var(--good); } .scroll .number { color: var(--warning); } .scroll .word { color: var(--bad); }
.scroll a { color: inherit; }
.diff { margin: 0 0 .5rem; padding: 0; list-style: none; font-size: .875rem; }
.diff li { padding: .375rem 0; border-bottom: 1px solid var(--line); }
.diff li:last-child { border-bottom: 0; }
.diff del, .diff ins { padding: 0 .25rem; border-radius: .25rem; text-decoration: none; font-family: var(--mono); font-size: .8125rem; overflow-wrap: anywhere; }
.diff del { background: var(--bad-tint); color: var(--bad); } .diff ins { background: var(--good-tint); color: var(--good); }
.versus { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1.25rem; align-items: start; }
.versus .timeline > li { display: block; padding-left: 1.5rem; }
.versus .timeline > li::before { left: .3125rem; } .versus .timeline > li::after { left: 0; }
.versus .timeline .when { text-align: left; }
.versus .other h3 { text-decoration: underline; text-decoration-color: var(--accent); text-decoration-thickness: 2px; text-underline-offset: .2em; }
@media (max-width: 52rem) {
  .places { order: 3; width: 100%; margin: 0 -.375rem; } .places a { padding: .375rem .5rem; font-size: .9375rem; }
  .clock { margin-left: 0; }
}
@media (forced-colors: active) { .places a[aria-current] { outline: 1px solid; } }
`

export const CONTROL_ROOM_ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Sandbox</title><rect width="32" height="32" rx="8" fill="#2f5bd7"/><path d="M9 7v18" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/><path d="M9 13h16" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-dasharray="4.5 7"/><path d="M9 13h16" stroke="#fff" stroke-opacity=".45" stroke-width="4" stroke-linecap="round"/></svg>`
