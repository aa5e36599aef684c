/** Stylesheet of all default pages, for light and dark mode. */
export const stylesheet = `:root { color-scheme: light dark; --page: #fff; --text: #1b1f27; --line: #8885; --quiet: #565b63; --accent: #0b57d0; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --page: #15181d; --text: #e7eaf0; --quiet: #b4b9c2; --accent: #a8c7fa; --on-accent: #062e6f } }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; font: 1.0625rem/1.5 system-ui, sans-serif }
main { max-width: 28rem; margin: 12vh auto 2rem; padding: 1.5rem 2rem; border: 1px solid var(--line); border-radius: .75rem }
h1 { font-size: 1.375rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere }
ul { padding-left: 1.25rem }
.logo { display: block; margin: 0 0 1rem; border-radius: .5rem; object-fit: contain }
.problem { font-weight: 600 }
.warning { padding: .75rem 1rem; border: 1px solid var(--line); border-left: .3rem solid var(--accent); border-radius: .5rem }
.code { font: 600 1.5rem/1.2 ui-monospace, monospace; letter-spacing: .1em; overflow-wrap: anywhere }
label { display: block; width: 100% }
form > div, form > p, fieldset { flex: 1 0 100%; min-width: 0; margin: 0; overflow-wrap: anywhere }
form > div p, form ul { margin: 0 }
fieldset { box-sizing: border-box; padding: 0; border: 0 }
legend { padding: 0; margin: 0 0 .25rem }
.choice { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem; cursor: pointer }
.choice input { flex: none; width: 1.25rem; min-height: 1.25rem; height: 1.25rem; accent-color: var(--accent) }
a { color: var(--accent) }
main > :last-child { margin-bottom: 0 }
input { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: 0 .75rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit }
.note { color: var(--quiet); font-size: .9375rem; overflow-wrap: anywhere }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem }
button { flex: 1; min-height: 2.75rem; font: inherit; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; cursor: pointer }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
@media (max-width: 32rem) { main { margin: 1rem; padding: 1.25rem } }
`
