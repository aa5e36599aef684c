import { Html, html } from '../../../core/html.ts'
import type { HttpResponse } from '../../../core/http.ts'
import type { StripeContext } from '../../state/context.ts'
import { STYLE } from './style.ts'

/** What a page is asked: by a link, or with what was typed into its form. */
export interface PageRequest {
  readonly context: StripeContext
  readonly id: string
  readonly form: URLSearchParams
  readonly posted: boolean
}

export type Page = (request: PageRequest) => HttpResponse

/** `framedBy` says who may show it inside of a page of theirs: nobody, unless told. */
export function show(
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
      // Without a referrer browsers would not say that our own forms come from here.
      'referrer-policy': 'same-origin',
    },
    body: html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${new Html(STYLE)}</style></head><body><header><strong>Tollgate sandbox</strong><span class="badge">Nothing here is real money</span></header><main>${body}</main></body></html>`
      .text,
  }
}

/** A page with a heading and little else. */
export function notice(status: number, title: string, text: string): HttpResponse {
  return show(status, title, html`<section><h1>${title}</h1><p>${text}</p></section>`)
}

export function redirect(url: string): HttpResponse {
  return { status: 303, headers: { location: url } }
}

export function alert(message: string | null): Html | '' {
  return message === null ? '' : html`<p class="alert" role="alert">${message}</p>`
}

/** `January 31, 2026`, by the sandbox's own clock. */
export function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-US', {
    dateStyle: 'long',
    timeZone: 'UTC',
  })
}

/** Fields that travel through a form without being shown. */
export function hidden(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}
