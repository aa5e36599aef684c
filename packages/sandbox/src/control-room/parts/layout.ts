import { type Html, html } from '@tollgate/http'
import { renderBreakableName, renderTime } from './elements.ts'

export interface ControlRoomView {
  readonly title: string
  /** Introduction below the page's title. */
  readonly lead?: Html | string
  /** Badge beside the page's title. */
  readonly badge?: Html
  readonly body: Html
}

export interface PageFrame {
  /** Path and query of the page. Its forms redirect back to them. */
  readonly path: string
  /** Path at which the page's data is available as JSON. `null` if there is none. */
  readonly json: string | null
  /** Present time of the sandbox's clock in ISO 8601 format. */
  readonly now: string
  /** Message about the last submitted form. `null` if there is none. */
  readonly notice: { readonly text: string; readonly isBad: boolean } | null
}

const PLACES = [
  ['/', 'Overview'],
  ['/customers', 'Customers'],
  ['/webhooks', 'Webhooks'],
  ['/mail', 'Mail'],
  ['/events', 'Events'],
  ['/clock', 'Clock'],
  ['/trouble', 'Trouble'],
] as const

/**
 * Renders a whole page as HTML. The page works without scripts, which its content security policy
 * forbids.
 */
export function renderPage(view: ControlRoomView, frame: PageFrame): string {
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
${renderNotice(frame)}
<div class="heading"><div><h1>${renderBreakableName(view.title)} ${view.badge}</h1>${view.lead && html`<p>${view.lead}</p>`}</div>
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

/** Renders the buttons that advance the clock. They are on every page. */
function clockForm({ now, path }: PageFrame): Html {
  return html`<form class="clock" method="post" action="/advance" aria-label="Clock">
<input type="hidden" name="back" value="${path}"><span>${renderTime(now)} <small>UTC</small></span>
${MOVES.map(([unit, text]) => html`<button class="small" name="${unit}" value="1" aria-label="Advance the clock by ${text}">+ ${text}</button>`)}
</form>`
}

function renderNotice({ notice }: PageFrame): Html | '' {
  if (!notice) return ''
  return html`<div class="status${notice.isBad && ' bad'}" role="${notice.isBad ? 'alert' : 'status'}"><p>${notice.text}</p></div>`
}
