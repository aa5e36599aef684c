import { Html, html } from '@tollgate/http'
import type { HttpResponse } from '../../../core/http.ts'
import type { StripeContext } from '../../state/context.ts'

/** A request for a hosted page: a link that was opened, or a form that was submitted. */
export interface PageRequest {
  readonly context: StripeContext
  readonly id: string
  readonly form: URLSearchParams
  readonly posted: boolean
}

export type StripePage = (request: PageRequest) => HttpResponse

/**
 * Returns the response with an HTML page. `framedBy` lists the sites that may embed the page; by
 * default none may.
 */
export function createPageResponse(
  status: number,
  title: string,
  body: Html,
  framedBy: "'none'" | '*' = "'none'",
): HttpResponse {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'; frame-ancestors ${framedBy}`,
      'cache-control': 'no-store',
      // Without a referrer, browsers would send no origin with our own forms.
      'referrer-policy': 'same-origin',
    },
    body: html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${new Html(STYLE)}</style></head><body><header><strong>Tollgate sandbox</strong><span class="badge">Nothing here is real money</span></header><main>${body}</main></body></html>`
      .text,
  }
}

/** Returns the response with a simple HTML page: a heading and a text. */
export function createNoticeResponse(status: number, title: string, text: string): HttpResponse {
  return createPageResponse(status, title, html`<section><h1>${title}</h1><p>${text}</p></section>`)
}

export function redirectResponse(url: string): HttpResponse {
  return { status: 303, headers: { location: url } }
}

export function renderAlert(message: string | null): Html | '' {
  return message === null ? '' : html`<p class="alert" role="alert">${message}</p>`
}

/** Formats Unix seconds as a date, such as `January 31, 2026`. */
export function formatUnixDate(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-US', {
    dateStyle: 'long',
    timeZone: 'UTC',
  })
}

/** Renders hidden form fields as HTML. */
export function renderHiddenFields(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}

/**
 * Styles of the hosted pages: light and dark, phone and desktop, without scripts or external
 * resources.
 */
const STYLE = `
:root { color-scheme: light dark; --ink: #1a1f36; --soft: #555c74; --line: #d5d9e4; --card: #fff;
  --ground: #f3f4f8; --accent: #4338ca; --on-accent: #fff; --bad: #b3261e; --good: #0b6b3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef6; --soft: #aab0c8; --line: #3c4360;
  --card: #1c2136; --ground: #12162a; --accent: #a5b4fc; --on-accent: #14172b; --bad: #ff9c94;
  --good: #7ddba9; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { display: flex; gap: .75rem; align-items: center; color: var(--soft); }
.badge { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; font-size: .8rem; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; } h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
.pair { display: grid; gap: 1rem; }
@media (min-width: 48rem) { .pair { grid-template-columns: 1fr 1fr; align-items: start; gap: 2rem; } }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.25rem; margin-bottom: 1rem; overflow-wrap: anywhere; }
.sum { font-size: 2rem; font-weight: 600; margin: 0 0 1rem; }
.soft { color: var(--soft); margin: 0; font-size: .9rem; }
table { width: 100%; border-collapse: collapse; } caption { text-align: left; font-weight: 600; }
th, td { text-align: left; font-weight: 400; padding: .45rem 0; vertical-align: top; }
td.amount, th.amount { text-align: right; white-space: nowrap; padding-left: .75rem; }
tr.ruled > * { border-top: 1px solid var(--line); } tr.total > * { font-weight: 600; }
section > :last-child { margin-bottom: 0; } main > section:only-child { max-width: 36rem; margin: 0 auto; }
form { margin: 0; } table + form { margin-top: 1rem; }
.row { display: flex; gap: .5rem; flex-wrap: wrap; align-items: end; } .row label { margin: 0; }
.list { list-style: none; padding: 0; margin: 0 0 1rem; }
.list li { display: flex; gap: .5rem; flex-wrap: wrap; align-items: center; padding: .35rem 0; }
.list li > :first-child { margin-right: auto; }
label, fieldset { display: block; margin: 0 0 .9rem; } fieldset { border: 0; padding: 0; }
legend { padding: 0; margin-bottom: .4rem; }
label.choice { display: flex; gap: .6rem; align-items: baseline; border: 1px solid var(--line);
  border-radius: .5rem; padding: .6rem .75rem; margin-bottom: .5rem; }
input, select, textarea { font: inherit; color: inherit; background: var(--card); width: 100%;
  border: 1px solid var(--soft); border-radius: .5rem; padding: .5rem .65rem; }
input[type=radio], input[type=checkbox], input[type=number] { width: auto; }
input[readonly] { background: var(--ground); }
button, a.button { font: inherit; font-weight: 600; cursor: pointer; border: 1px solid var(--accent);
  border-radius: .5rem; padding: .55rem 1rem; background: var(--accent); color: var(--on-accent);
  text-decoration: none; display: inline-block; }
button.quiet, a.quiet { background: transparent; color: var(--accent); }
button.wide { width: 100%; padding: .75rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.alert { border: 1px solid var(--bad); color: var(--bad); border-radius: .5rem; padding: .6rem .9rem;
  margin: 0 0 1rem; } .good { color: var(--good); }
`
