import { type Html, html } from '../../core/html.ts'
import { type CustomerSummary, findCustomers } from '../model/customers.ts'
import { customerPath, empty, moment, statusBadge } from '../parts/bits.ts'
import { table } from '../parts/table.ts'
import { definePage } from './page.ts'

const SHOWN = 100

export const customersPage = definePage(
  ({ watched, query }) => {
    const text = query.get('q') ?? ''
    const customers = findCustomers(watched, text, SHOWN + 1)
    return { query: text, customers: customers.slice(0, SHOWN), more: customers.length > SHOWN }
  },
  ({ query, customers, more }) => ({
    title: 'Customers',
    lead: 'Each has a timeline of everything that happened and everything that will.',
    body: html`<section class="card"><form class="line" method="get" action="/customers" role="search">
<label class="grow">Name, e-mail or id <input type="search" name="q" value="${query}"></label><button class="primary">Find</button></form>
${customers.length > 0 ? customerTable(customers) : empty(query ? 'Nobody of that name.' : 'Nobody yet. Point an SDK here, or trigger customer.created.')}
${more && html`<p class="quiet">These are the newest ${SHOWN}. Say more precisely whom you look for.</p>`}</section>`,
  }),
)

export function customerTable(customers: readonly CustomerSummary[]): Html {
  return table('Customers', customers, {
    Customer: (who) =>
      html`<a href="${customerPath(who)}">${who.name ?? who.email ?? who.id}</a>${who.name && who.email && html`<br><small>${who.email}</small>`}`,
    Provider: ({ provider, id }) => html`${provider}<br><code>${id}</code>`,
    Subscriptions: ({ subscriptions }) =>
      subscriptions.length === 0
        ? html`<small>none</small>`
        : subscriptions.map(
            ({ status, plan, price }) =>
              html`<div>${statusBadge(status)} ${plan} <small>${price}</small></div>`,
          ),
    'Next step': ({ subscriptions }) => {
      const next = subscriptions.flatMap(({ nextAt }) => nextAt ?? []).sort()[0]
      return next === undefined ? html`<small>none</small>` : moment(next)
    },
    Created: ({ created }) => moment(created),
  })
}
