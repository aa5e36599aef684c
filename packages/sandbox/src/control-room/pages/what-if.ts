import { type Html, html } from '@tollgate/http'
import {
  type BillingForecast,
  type ForecastAssumptions,
  forecastCustomer,
} from '../forecast/forecast.ts'
import { findCustomer } from '../model/customers.ts'
import {
  buildCustomerPath,
  formatAmounts,
  renderEmptyNote,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderFutureStep } from '../parts/timeline.ts'
import { getCustomerNow } from '../story/clocks.ts'
import type { TimelineStep } from '../story/step.ts'
import { computeForecastEnd, readCustomerRef } from './customer.ts'
import { definePage, type PageRequest } from './page.ts'

const CHARGES = {
  'as-they-are': 'as usual',
  'next-declined': 'declined once',
  'all-declined': 'all declined',
} as const
const SUBSCRIPTIONS = {
  'as-they-are': 'unchanged',
  'cancel-at-period-end': 'canceled at the period end',
  'cancel-now': 'canceled today',
} as const
const MONTHS = { 1: '1 month', 3: '3 months', 6: '6 months', 12: '1 year' } as const

async function read(ask: PageRequest) {
  const { sandbox, query } = ask
  const customerRef = readCustomerRef(ask)
  const customer = customerRef && findCustomer(sandbox, customerRef)
  if (!customerRef || !customer) return null
  const supposed: Required<ForecastAssumptions> = {
    charges: readChoice(CHARGES, query.get('charges')),
    subscriptions: readChoice(SUBSCRIPTIONS, query.get('subscriptions')),
  }
  const months = Number(readChoice(MONTHS, query.get('months') ?? '3'))
  const until = computeForecastEnd(getCustomerNow(sandbox, customerRef), months)
  const [asIs, ifSo] = await Promise.all([
    forecastCustomer(sandbox, customerRef, until),
    forecastCustomer(sandbox, customerRef, until, supposed),
  ])
  return { customer, months, supposed, asIs, ifSo }
}

type Data = NonNullable<Awaited<ReturnType<typeof read>>>

export const whatIfPage = definePage(read, (data) => {
  const { customer, asIs, ifSo } = data
  const name = customer.name ?? customer.email ?? customer.id
  return {
    title: 'What if …',
    lead: html`<a href="${buildCustomerPath(customer)}">${name}</a>: a forecast on a copy of this customer. The sandbox does not change.`,
    body: html`<div class="stack"><section class="card"><h2>Assumptions</h2>${form(data)}</section>
<div class="versus">${renderForecastSide('Without changes', asIs, ifSo)}${renderForecastSide('With these assumptions', ifSo, asIs)}</div></div>`,
  }
})

function form({ customer, months, supposed }: Data): Html {
  return html`<form class="line" method="get" action="${buildCustomerPath(customer)}/what-if">
${select('charges', 'Charges are', CHARGES, supposed.charges)}
${select('subscriptions', 'Subscriptions are', SUBSCRIPTIONS, supposed.subscriptions)}
${select('months', 'Look ahead', MONTHS, String(months))}
<button class="primary">Forecast</button></form>`
}

function select(
  name: string,
  label: string,
  options: Record<string, string>,
  chosen: string,
): Html {
  return html`<label>${label} <select name="${name}">${Object.entries(options).map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></label>`
}

/** Renders one of two forecasts. Steps that the other one does not have are underlined. */
function renderForecastSide(title: string, own: BillingForecast, other: BillingForecast): Html {
  const known = new Set(other.steps.map(nameOf))
  const isOther = (step: TimelineStep) => !known.has(nameOf(step))
  return html`<section class="card"><h2>${title}</h2>
<p><strong>${formatAmounts(own.paid)}</strong> will be paid by ${renderTime(own.until)}.</p>
<p>${own.subscriptions.map(({ status }) => html`${renderStatusBadge(status)} `)}<small>at the end</small></p>
${own.steps.length === 0 ? renderEmptyNote('Nothing is due.') : html`<ol class="timeline">${own.steps.map((step) => renderFutureStep(step, { path: null, isOther }))}</ol>`}</section>`
}

function nameOf({ at, title, amount }: TimelineStep): string {
  return `${at} ${title} ${amount?.text ?? ''}`
}

function readChoice<Options extends object>(
  options: Options,
  value: string | null,
): keyof Options & string {
  const names = Object.keys(options) as Array<keyof Options & string>
  return names.find((name) => name === value) ?? (names[0] as keyof Options & string)
}
