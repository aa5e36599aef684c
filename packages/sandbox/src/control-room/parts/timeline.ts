import { type Html, html } from '@tollgate/http'
import type { TimelineStep } from '../story/step.ts'
import type { DeliveryNote } from '../story/timeline.ts'
import {
  buildCustomerPath,
  renderClockField,
  renderObjectLink,
  renderReturnField,
  renderTime,
} from './elements.ts'

export interface TimelineOptions {
  /** Page to which the button "Go there" of a future step redirects. `null` hides these buttons. */
  readonly path: string | null
  /**
   * Id of the test clock that the button "Go there" moves. Without it, the button moves the
   * sandbox's own clock.
   */
  readonly testClock?: string | null
  /** Whether each step shows the name of its customer, as in a timeline of several customers. */
  readonly withCustomer?: boolean
  /** Whether a step is missing in the other forecast of a comparison. Such steps are underlined. */
  readonly isOther?: (step: TimelineStep) => boolean
}

/** Renders a future step of a timeline, with a hollow dot and a dashed line. */
export function renderFutureStep(step: TimelineStep, options: TimelineOptions): Html {
  const { path } = options
  const go =
    path !== null &&
    html`<form method="post" action="/advance-to">${renderReturnField(path)}${renderClockField(options.testClock)}<input type="hidden" name="date" value="${step.at}"><button class="small">Go there<span class="unseen">: ${step.title}, ${step.at}</span></button></form>`
  const { provider, merchant, customer } = step
  const whose =
    options.withCustomer && customer !== null
      ? html`<p class="quiet"><a href="${buildCustomerPath({ provider, merchant, id: customer })}">${customer}</a></p>`
      : ''
  const kind = `coming${options.isOther?.(step) ? ' other' : ''}`
  return renderStepItem(step, kind, { beside: html`${go}`, below: whose })
}

export function renderPastStep(
  step: TimelineStep & { readonly deliveries: readonly DeliveryNote[] },
): Html {
  return renderStepItem(step, '', { below: deliveryLine(step.deliveries) })
}

export function renderPresentMoment(now: string): Html {
  return html`<li class="now"><div class="when">${renderTime(now)}</div><div class="what">Now</div></li>`
}

function renderStepItem(
  step: TimelineStep,
  kind: string,
  extraParts: { beside?: Html; below?: Html | '' },
): Html {
  const [first] = step.facts
  return html`<li class="${step.tone} ${kind}"><div class="when">${renderTime(step.at)}</div>
<div class="what"><div class="head"><h3>${step.title} ${step.amount && html`<span class="amount">${step.amount.text}</span>`}</h3>${extraParts.beside}</div>
${step.notes.map((note) => html`<p class="quiet">${note}</p>`)}
${step.facts.length === 1 && first ? html`<p class="quiet">${renderStepFact(first, step)}</p>` : factList(step)}
${extraParts.below}</div></li>`
}

function factList(step: TimelineStep): Html {
  const { facts } = step
  return html`<details><summary>${facts.length} events</summary><ul>${facts.map((each) => html`<li>${renderStepFact(each, step)}</li>`)}</ul></details>`
}

function renderStepFact(
  { type, eventId, objectId }: TimelineStep['facts'][number],
  { merchant }: TimelineStep,
): Html {
  const name =
    eventId === null
      ? html`<code>${type}</code>`
      : html`<a href="/events/${eventId}"><code>${type}</code></a>`
  return html`${name}${objectId !== null && html` ${renderObjectLink(objectId, merchant)}`}`
}

function deliveryLine(deliveries: readonly DeliveryNote[]): Html | '' {
  const [first] = deliveries
  if (!first) return ''
  const failed = deliveries.find(({ state }) => state !== 'delivered')
  const shown = failed ?? first
  const all =
    deliveries.length === 1
      ? `Webhook ${shown.state}`
      : `${deliveries.length} webhooks, ${failed ? `one ${failed.state}` : 'all delivered'}`
  return html`<p class="quiet"><a href="/webhooks/${shown.id}">${all}</a></p>`
}
