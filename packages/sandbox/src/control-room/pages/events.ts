import { html } from '@tollgate/http'
import {
  renderBreakableName,
  renderEmptyNote,
  renderObjectLink,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { readEvents } from '../story/stripe-events.ts'
import { definePage } from './page.ts'

const SHOWN = 100

export const eventsPage = definePage(
  ({ sandbox, query }) => {
    const type = query.get('type') ?? ''
    const { stripe } = sandbox
    const filter = { most: SHOWN, ...(type === '' ? {} : { type }) }
    const events = stripe ? readEvents(stripe.context, filter) : []
    return {
      type,
      events: events.map(({ id, type, created, object, request }) => ({
        id,
        type,
        created: new Date(created * 1000).toISOString(),
        object: typeof object.id === 'string' ? object.id : null,
        request,
      })),
    }
  },
  ({ type, events }) => ({
    title: 'Events',
    lead: 'Events at Stripe in the last 30 days, newest first. Braintree has no events; its notifications are listed as webhooks.',
    body: html`<section class="card"><form class="line" method="get" action="/events"><label class="grow">Type starts with <input type="search" name="type" value="${type}" placeholder="invoice."></label><button>Show</button></form>
${
  events.length === 0
    ? renderEmptyNote(type ? 'No events match.' : 'No events yet.')
    : renderTable('Events', events, {
        Type: (event) => html`<a href="/events/${event.id}">${renderBreakableName(event.type)}</a>`,
        About: ({ object }) => (object === null ? '' : renderObjectLink(object)),
        Cause: ({ request }) => (request === null ? 'clock' : html`call <code>${request}</code>`),
        At: ({ created }) => renderTime(created),
      })
}</section>`,
  }),
)
