import { type Html, html } from '../../core/html.ts'
import { breakable, moment } from './bits.ts'

export interface View {
  readonly title: string
  /** Under the title. */
  readonly lead?: Html | string
  /** Beside the title. */
  readonly badge?: Html
  readonly body: Html
}

export interface Frame {
  /** The page's own path and query: where its forms lead back to. */
  readonly path: string
  /** The same as data. */
  readonly json: string | null
  /** ISO 8601. */
  readonly now: string
  /** What the last form did, or why it could not. */
  readonly notice: { readonly text: string; readonly isBad: boolean } | null
}

const PLACES = [
  ['/', 'Overview'],
  ['/customers', 'Customers'],
  ['/webhooks', 'Webhooks'],
  ['/events', 'Events'],
  ['/clock', 'Clock'],
  ['/trouble', 'Trouble'],
] as const

/** A whole page. It works without script, which its policy forbids anyway. */
export function renderPage(view: View, frame: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · Sandbox</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28"><span>Sandbox</span></a>
${navigation(frame.path)}
${clockForm(frame)}
</header>
<main id="main" tabindex="-1">
${notice(frame)}
<div class="heading"><div><h1>${breakable(view.title)} ${view.badge}</h1>${view.lead && html`<p>${view.lead}</p>`}</div>
${frame.json && html`<a class="beside" href="${frame.json}">This page as JSON</a>`}</div>
${view.body}
</main>
</body>
</html>`.text
}

function navigation(path: string): Html {
  const isHere = (place: string) =>
    place === '/'
      ? /^\/(\?|$)/.test(path)
      : path === place || new RegExp(`^${place}[/?]`).test(path)
  return html`<nav class="places" aria-label="Main"><ul>${PLACES.map(
    ([place, title]) =>
      html`<li><a href="${place}"${isHere(place) && html` aria-current="page"`}>${title}</a></li>`,
  )}</ul></nav>`
}

const MOVES = [
  ['hours', '1 hour'],
  ['days', '1 day'],
  ['months', '1 month'],
] as const

/** On every page, because time is what one moves all the time. */
function clockForm({ now, path }: Frame): Html {
  return html`<form class="clock" method="post" action="/advance" aria-label="Clock">
<input type="hidden" name="back" value="${path}"><span>${moment(now)} <small>UTC</small></span>
${MOVES.map(([unit, text]) => html`<button class="small" name="${unit}" value="1" aria-label="Advance the clock by ${text}">+ ${text}</button>`)}
</form>`
}

function notice({ notice }: Frame): Html | '' {
  if (!notice) return ''
  return html`<div class="status${notice.isBad && ' bad'}" role="${notice.isBad ? 'alert' : 'status'}"><p>${notice.text}</p></div>`
}
