import { type Html, html } from '@tollgate/http'
import { formatProviderAndMerchant } from '../story/merchants.ts'
import type { CustomerRef } from '../story/observed-sandbox.ts'
import type { StepAmount, StepTone } from '../story/step.ts'

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** Renders a time as HTML, in UTC: `31 Jan 2026, 10:00`. */
export function renderTime(iso: string | null): Html | '' {
  if (iso === null) return ''
  return html`<time datetime="${iso}">${MOMENT.format(new Date(iso))}</time>`
}

const TONES: Readonly<Record<string, StepTone>> = {
  active: 'good',
  paid: 'good',
  succeeded: 'good',
  complete: 'good',
  delivered: 'good',
  settled: 'good',
  enabled: 'good',
  trialing: 'warning',
  pending: 'warning',
  'past due': 'bad',
  past_due: 'bad',
  unpaid: 'bad',
  failed: 'bad',
  incomplete: 'warning',
  open: 'warning',
  processor_declined: 'bad',
  gateway_rejected: 'bad',
  settlement_declined: 'bad',
}

export function renderStatusBadge(status: string): Html {
  return renderBadge(status, TONES[status.toLowerCase()] ?? 'plain')
}

export function renderBadge(text: string, tone: StepTone): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

export function formatAmounts(list: readonly StepAmount[]): string {
  return list.length === 0 ? 'nothing' : list.map(({ text }) => text).join(' + ')
}

export function buildCustomerPath(customerRef: CustomerRef): string {
  return `/customers/${formatProviderAndMerchant(customerRef)}/${encodeURIComponent(customerRef.id)}`
}

/**
 * Returns the name of a customer's provider: `Stripe` or `Braintree`, or `Braintree · shop` if
 * there are several merchants.
 */
export function formatProviderLabel({
  provider,
  merchant,
}: Pick<CustomerRef, 'provider' | 'merchant'>): string {
  const name = provider === 'stripe' ? 'Stripe' : 'Braintree'
  return merchant === null ? name : `${name} · ${merchant}`
}

export function renderObjectLink(id: string, merchant: string | null = null): Html {
  const whose = merchant === null ? '' : `?merchant=${merchant}`
  return html`<a href="/objects/${encodeURIComponent(id)}${whose}"><code>${id}</code></a>`
}

/**
 * Renders a long name so that browsers can break it after `.`, `_` and `/` instead of inside a
 * word.
 */
export function renderBreakableName(name: string): Html[] {
  return name.split(/(?<=[._/])/).map((part) => html`${part}<wbr>`)
}

/** Returns a number with its noun: `3 customers`, `1 customer`. */
export function formatCount(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : `${noun}s`}`
}

/** Renders the hidden form field that contains the page to which the form redirects. */
export function renderReturnField(path: string): Html {
  return html`<input type="hidden" name="back" value="${path}">`
}

/**
 * Renders a hidden form field with the id of the test clock that the form moves. Without a test
 * clock, renders nothing: the form then moves the sandbox's own clock.
 */
export function renderClockField(testClock: string | null | undefined): Html | '' {
  return testClock ? html`<input type="hidden" name="clock" value="${testClock}">` : ''
}

export function renderEmptyNote(text: string): Html {
  return html`<p class="empty">${text}</p>`
}
