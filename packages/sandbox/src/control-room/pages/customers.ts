import { type Html, html } from '@tollgate/http'
import { type CustomerSummary, findCustomers } from '../model/customers.ts'
import {
  buildCustomerPath,
  formatProviderLabel,
  renderBreakableName,
  renderEmptyNote,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { formatProviderAndMerchant, listMerchants } from '../story/merchants.ts'
import type { CustomerRef, ObservedSandbox } from '../story/observed-sandbox.ts'
import { definePage } from './page.ts'

const SHOWN = 100

export const customersPage = definePage(
  ({ sandbox, query }) => {
    const text = query.get('q') ?? ''
    const places = listPlaces(sandbox)
    const place = places.find(({ value }) => value === query.get('at'))?.value ?? ''
    const found = findCustomers(sandbox, { text, place, most: SHOWN + 1 })
    const customers = found.slice(0, SHOWN)
    return { query: text, place, places, customers, more: found.length > SHOWN }
  },
  ({ query, place, places, customers, more }) => ({
    title: 'Customers',
    lead: 'Each customer has a timeline of past and future steps.',
    body: html`<section class="card"><form class="line" method="get" action="/customers" role="search">
<label class="grow">Name, e-mail or id <input type="search" name="q" value="${query}"></label>${places.length > 1 && renderPlaceSelect(places, place)}<button class="primary">Find</button></form>
${customers.length > 0 ? renderCustomerTable(customers) : renderEmptyNote(query || place ? 'No customers match.' : 'No customers yet. Create one with an SDK, or trigger customer.created.')}
${more && html`<p class="quiet">Only the newest ${SHOWN} are shown. Search to narrow the list.</p>`}</section>`,
  }),
)

function renderPlaceSelect(places: readonly Place[], chosen: string): Html {
  return html`<label>At <select name="at"><option value="">everywhere</option>${places.map(
    ({ value, name }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  )}</select></label>`
}

interface Place {
  readonly value: string
  readonly name: string
}

function listPlaces(sandbox: ObservedSandbox): Place[] {
  const places: Array<Pick<CustomerRef, 'provider' | 'merchant'>> = [
    ...(sandbox.stripe ? [{ provider: 'stripe' as const, merchant: null }] : []),
    ...listMerchants(sandbox).map(({ name }) => ({
      provider: 'braintree' as const,
      merchant: name,
    })),
  ]
  return places.map((place) => ({
    value: formatProviderAndMerchant(place),
    name: formatProviderLabel(place),
  }))
}

export function renderCustomerTable(customers: readonly CustomerSummary[]): Html {
  return renderTable('Customers', customers, {
    Customer: (customer) =>
      html`<a href="${buildCustomerPath(customer)}">${customer.name ?? customer.email ?? customer.id}</a>${customer.name && customer.email && html`<br><small>${customer.email}</small>`}`,
    Provider: ({ provider, merchant, id }) =>
      html`${formatProviderLabel({ provider, merchant: null })}${merchant !== null && html` <small>${renderBreakableName(merchant)}</small>`}<br><code>${id}</code>`,
    Subscriptions: ({ subscriptions }) =>
      subscriptions.length === 0
        ? html`<small>none</small>`
        : subscriptions.map(
            ({ status, plan, price }) =>
              html`<div>${renderStatusBadge(status)} ${plan} <small>${price}</small></div>`,
          ),
    'Next step': ({ subscriptions }) => {
      const next = subscriptions.flatMap(({ nextAt }) => nextAt ?? []).sort()[0]
      return next === undefined ? html`<small>none</small>` : renderTime(next)
    },
    Created: ({ created }) => renderTime(created),
  })
}
