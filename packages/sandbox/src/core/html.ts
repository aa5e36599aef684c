/** Text made safe inside HTML, in elements and in quoted attributes. */
export function escapeHtml(text: unknown): string {
  return String(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Markup that is already safe. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A template whose values are escaped, unless they are `Html` themselves. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  let text = strings[0] ?? ''
  values.forEach((value, at) => {
    text += toText(value) + (strings[at + 1] ?? '')
  })
  return new Html(text)
}

function toText(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toText).join('')
  return value === null || value === undefined || value === false ? '' : escapeHtml(value)
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #3b5bdb; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
form { display: inline-flex; gap: .5rem; flex-wrap: wrap; align-items: center; margin: .2rem .6rem .2rem 0; }
button, input, select { font: inherit; padding: .25rem .6rem; }
button { cursor: pointer; border: 1px solid var(--accent); border-radius: .3rem; background: var(--accent); color: #fff; }
.note { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .9rem; }
.scroll { overflow-x: auto; }
code { font-size: 12px; }
`

/** A whole page, with no script and nothing from elsewhere. */
export function page(title: string, body: Html): string {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${new Html(STYLE)}</style></head><body>${body}</body></html>`
    .text
}
