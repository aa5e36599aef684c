import { addDuration, type Html, html } from '@tollgate/http'
import { forecastCustomer } from '../forecast/forecast.ts'
import { type CustomerSummary, findCustomer } from '../model/customers.ts'
import { findPaymentMethods } from '../model/payment-methods.ts'
import {
  buildCustomerPath,
  formatAmounts,
  formatProviderLabel,
  renderEmptyNote,
  renderObjectLink,
  renderReturnField,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderFutureStep, renderPastStep, renderPresentMoment } from '../parts/timeline.ts'
import { findCustomerTestClock, getCustomerNow } from '../story/clocks.ts'
import { parseProviderAndMerchant } from '../story/merchants.ts'
import type { CustomerRef } from '../story/observed-sandbox.ts'
import { sortNewestFirst } from '../story/step.ts'
import { listPastSteps } from '../story/timeline.ts'
import { definePage, type PageRequest } from './page.ts'

const HORIZONS = [1, 3, 6, 12]

/**
 * Returns the end of a forecast over a number of months. Adds one day, so that an invoice drafted
 * on the last day is shown as paid.
 */
export function computeForecastEnd(now: Date, months: number): Date {
  return addDuration(now, { months, days: 1 })
}

/** Returns the customer that the path of a page names, or `null` if the path names no provider. */
export function readCustomerRef({ params }: PageRequest): CustomerRef | null {
  const { provider = '', id = '' } = params
  const place = parseProviderAndMerchant(provider)
  return place && { ...place, id }
}

async function read(ask: PageRequest) {
  const { sandbox, query } = ask
  const customerRef = readCustomerRef(ask)
  const customer = customerRef && findCustomer(sandbox, customerRef)
  if (!customerRef || !customer) return null
  const months = HORIZONS.find((each) => String(each) === query.get('months')) ?? 3
  const now = getCustomerNow(sandbox, customerRef)
  return {
    now: now.toISOString(),
    customer,
    testClock: findCustomerTestClock(sandbox, customerRef),
    months,
    paymentMethods: findPaymentMethods(sandbox, customerRef),
    declines:
      sandbox.trouble.pending().declines.find((each) => each.customer === customerRef.id)?.codes ??
      [],
    coming: await forecastCustomer(sandbox, customerRef, computeForecastEnd(now, months)),
    past: listPastSteps(sandbox, customerRef),
  }
}

type Data = NonNullable<Awaited<ReturnType<typeof read>>>

export const customerPage = definePage(read, (data, { path }) => {
  const { customer, testClock } = data
  const lives =
    testClock &&
    html` · on the test clock <a href="/clock?clock=${testClock.id}">${testClock.name ?? testClock.id}</a>`
  return {
    title: customer.name ?? customer.email ?? customer.id,
    lead: html`${customer.name && customer.email && `${customer.email} · `}${formatProviderLabel(customer)} · ${renderObjectLink(customer.id, customer.merchant)}${lives}`,
    body: html`<div class="aside"><section class="card"><h2>Timeline</h2>${renderHorizonLinks(data)}${timeline(data, path)}</section>
<div class="stack">${subscriptions(customer)}${renderMethods(data)}${renderWhatIfForm(data)}${renderDeclineForm(data, path)}</div></div>`,
  }
})

function renderHorizonLinks({ customer, months, coming }: Data): Html {
  const links = HORIZONS.map((each) => {
    const chosen = each === months
    const text = each === 12 ? '1 year' : each === 1 ? '1 month' : `${each} months`
    return html`<a class="button small${chosen && ' chosen'}" href="${buildCustomerPath(customer)}?months=${each}"${chosen && html` aria-current="true"`}>${text}</a>`
  })
  return html`<p>Without further actions, <strong>${formatAmounts(coming.paid)}</strong> will be paid by ${renderTime(coming.until)}.</p>
<nav class="line" aria-label="Length of the forecast"><span class="quiet">Look ahead</span> ${links}</nav>`
}

function timeline({ coming, past, now, testClock }: Data, path: string): Html {
  const ahead = sortNewestFirst(coming.steps)
  const options = { path, testClock: testClock?.id ?? null }
  return html`<ol class="timeline">${ahead.map((step) => renderFutureStep(step, options))}${renderPresentMoment(now)}${past.map(renderPastStep)}</ol>
${coming.failedJobs.map((text) => html`<p class="quiet">Would fail: ${text}</p>`)}`
}

function subscriptions({ subscriptions: list, merchant }: CustomerSummary): Html {
  return html`<section class="card"><h2>Subscriptions</h2>${
    list.length === 0
      ? renderEmptyNote('None.')
      : list.map(
          ({ id, status, plan, price, nextAt, endsAt }) =>
            html`<p>${renderStatusBadge(status)} <strong>${plan}</strong><br>${price}<br>${nextAt && html`<small>Next step ${renderTime(nextAt)}</small><br>`}${endsAt && html`<small>Ends ${renderTime(endsAt)}</small><br>`}${renderObjectLink(id, merchant)}</p>`,
        )
  }</section>`
}

function renderMethods({ paymentMethods, customer }: Data): Html {
  return html`<section class="card"><h2>Payment methods</h2>${
    paymentMethods.length === 0
      ? renderEmptyNote('None.')
      : paymentMethods.map(
          ({ id, label, note }) =>
            html`<p>${label}<br>${note && html`<small>${note}</small><br>`}${renderObjectLink(id, customer.merchant)}</p>`,
        )
  }</section>`
}

function renderWhatIfForm({ customer }: Data): Html {
  const path = `${buildCustomerPath(customer)}/what-if`
  return html`<section class="card"><h2>What if …</h2><p class="quiet">Runs on a copy: nothing changes.</p>
<ul><li><a href="${path}?charges=next-declined">the next charge is declined</a></li><li><a href="${path}?charges=all-declined">all charges are declined</a></li><li><a href="${path}?subscriptions=cancel-now">all subscriptions are canceled today</a></li></ul></section>`
}

function renderDeclineForm({ customer, declines }: Data, path: string): Html {
  const code = customer.provider === 'stripe' ? 'insufficient_funds' : '2001'
  return html`<section class="card"><h2>Trouble</h2>${declines.length > 0 && html`<p>Pending: ${declines.map((each) => html`<code>${each}</code> `)}</p>`}
<form class="line" method="post" action="/decline">${renderReturnField(path)}<input type="hidden" name="customer" value="${customer.id}">
<label>Decline the next charge with <input name="code" value="${code}" size="18" required></label><button>Apply</button></form></section>`
}
