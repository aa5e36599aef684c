import { type Html, html } from '@tollgate/http'
import type { ChangedField } from '../story/diff.ts'

/** Ids that are rendered as links. */
const ID = /^[a-z]{2,8}_[A-Za-z0-9]{8,}$/

/** Renders JSON as HTML with colors, and with links for object ids. */
export function renderJson(value: unknown, label: string): Html {
  return renderCodeRegion(jsonHtml(value, ''), label)
}

/** Renders plain text as HTML. */
export function renderText(text: string, label: string): Html {
  return renderCodeRegion(html`${text}`, label)
}

/** Renders a scrollable region that can be focused and scrolled with the keyboard. */
function renderCodeRegion(content: Html, label: string): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${content}</div>`
}

function jsonHtml(value: unknown, indent: string): Html {
  if (Array.isArray(value)) return listHtml(value, indent)
  if (typeof value === 'object' && value !== null) return objectHtml(value, indent)
  if (typeof value === 'string') return stringHtml(value)
  return html`<span class="${typeof value === 'number' ? 'number' : 'word'}">${String(value)}</span>`
}

function stringHtml(value: string): Html {
  const text = JSON.stringify(value)
  if (!ID.test(value)) return html`<span class="text">${text}</span>`
  const path = value.startsWith('evt_') ? 'events' : 'objects'
  return html`<span class="text"><a href="/${path}/${value}">${text}</a></span>`
}

function listHtml(list: readonly unknown[], indent: string): Html {
  if (list.length === 0) return html`[]`
  const inner = `${indent}  `
  const items = list.map((item) => html`${inner}${jsonHtml(item, inner)}`)
  return html`[\n${joinLines(items)}\n${indent}]`
}

function objectHtml(object: object, indent: string): Html {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return html`{}`
  const inner = `${indent}  `
  const lines = entries.map(
    ([name, value]) =>
      html`${inner}<span class="key">${JSON.stringify(name)}</span>: ${jsonHtml(value, inner)}`,
  )
  return html`{\n${joinLines(lines)}\n${indent}}`
}

function joinLines(parts: readonly Html[]): Html[] {
  return parts.map((part, at) => (at === parts.length - 1 ? part : html`${part},\n`))
}

/** Renders a list of changed fields with their old and new values. */
export function renderChangeList(changes: readonly ChangedField[], most = 40): Html {
  const shown = changes.slice(0, most)
  const more = changes.length - shown.length
  return html`<ul class="diff">${shown.map(
    ({ path, before, after }) =>
      html`<li><code>${path}</code><br>${before !== undefined && html`<del><span class="unseen">was </span>${formatBriefly(path, before)}</del> <span aria-hidden="true">→</span> `}${
        after === undefined
          ? html`<small>removed</small>`
          : html`<ins><span class="unseen">is </span>${formatBriefly(path, after)}</ins>`
      }</li>`,
  )}${more > 0 && html`<li><small>and ${more} more</small></li>`}</ul>`
}

const LONGEST = 160

function formatBriefly(path: string, value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  const isTime = typeof value === 'number' && /(_at|At|_end|_start|created|anchor|date)$/.test(path)
  return isTime && value > 1e9 ? `${cut} (${toMoment(value)})` : cut
}

/** Formats a timestamp: Stripe's are in seconds, Braintree's rows have milliseconds. */
function toMoment(value: number): string {
  return new Date(value > 1e12 ? value : value * 1000).toISOString().slice(0, 16).replace('T', ' ')
}
