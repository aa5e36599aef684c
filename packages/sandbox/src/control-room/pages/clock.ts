import { addDuration, type Html, html } from '@tollgate/http'
import { CLOCK_STEP_UNITS } from '../actions/move-clock.ts'
import { forecastClock, MAX_FORECAST_ROWS } from '../forecast/outlook.ts'
import {
  formatAmounts,
  formatCount,
  renderClockField,
  renderEmptyNote,
  renderReturnField,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { renderFutureStep } from '../parts/timeline.ts'
import { findTestClock, listTestClocks, type TestClock } from '../story/clocks.ts'
import { sortNewestFirst } from '../story/step.ts'
import { definePage, type PageRequest } from './page.ts'

const SHOWN = 60
const CLOCKS = 100
/** Longest forecast. A longer one would take too much time for a page. */
const LONGEST = { years: 5 }

async function read({ sandbox, query }: PageRequest) {
  const chosen = findTestClock(sandbox, query.get('clock') ?? '')
  const now = chosen ? new Date(chosen.now) : sandbox.clock.now()
  const amount = Number(query.get('count') ?? '')
  const unit = CLOCK_STEP_UNITS.find((each) => each === query.get('unit')) ?? 'months'
  const asked = query.has('count')
  const isNumber = Number.isInteger(amount) && amount > 0
  const wanted = isNumber ? addDuration(now, { [unit]: Math.min(amount, 100_000) }) : now
  const until = new Date(Math.min(wanted.getTime(), addDuration(now, LONGEST).getTime()))
  return {
    now: now.toISOString(),
    chosen,
    testClocks: listTestClocks(sandbox).slice(0, CLOCKS),
    asked,
    count: isNumber ? amount : 1,
    unit,
    outlook: asked && isNumber ? await forecastClock(sandbox, until, chosen?.id) : null,
  }
}

type Data = Awaited<ReturnType<typeof read>>

export const clockPage = definePage(read, (data, { path }) => ({
  title: 'Clock',
  lead: html`${data.chosen ? html`The test clock <strong>${nameOf(data.chosen)}</strong>` : 'The sandbox’s own clock'} shows ${renderTime(data.now)} UTC. When you advance the clock, everything that becomes due happens in order.`,
  body: html`<div class="stack"><div class="two"><section class="card"><h2>Advance the clock</h2>
<form class="line" method="post" action="/advance">${renderReturnField(path)}${renderClockField(data.chosen?.id)}${renderDurationFields(data)}<button class="primary">Advance</button></form>
<form class="line" method="post" action="/advance-to">${renderReturnField(path)}${renderClockField(data.chosen?.id)}<label>To (UTC) <input type="datetime-local" name="date" value="${data.now.slice(0, 16)}" required></label><button>Advance</button></form>
<p class="quiet">Stripe's invoices stay drafts for an hour before they are charged.</p></section>
<section class="card"><h2>Forecast</h2><p class="quiet">Runs on a copy of the sandbox: nothing changes, and no webhook is sent.</p>
<form class="line" method="get" action="/clock">${renderClockField(data.chosen?.id)}${renderDurationFields(data)}<button class="primary">Forecast</button></form></section></div>
${data.asked && renderClockForecast(data)}
${data.testClocks.length > 0 && renderClockLinks(data)}
${saveAndReset(path)}</div>`,
}))

function nameOf({ name, id }: TestClock): string {
  return name ?? id
}

/** Renders links to the clocks. The forms above move the chosen clock. */
function renderClockLinks({ chosen, testClocks }: Data): Html {
  const link = (id: string | null, text: string) =>
    id === (chosen?.id ?? null)
      ? html`<strong aria-current="true">${text}</strong>`
      : html`<a href="/clock${id !== null && `?clock=${id}`}">${text}</a>`
  return html`<section class="card"><h2>Clocks</h2>
<p class="quiet">A customer on a test clock is billed by that clock. Everything else uses ${link(null, 'the sandbox’s own clock')}.</p>
${renderTable('Test clocks', testClocks, {
  Clock: (clock) => link(clock.id, nameOf(clock)),
  Shows: ({ now }) => renderTime(now),
  Customers: ({ customers }) => customers,
  Status: ({ status }) => status,
})}</section>`
}

function renderDurationFields({ count, unit }: Data): Html {
  return html`<label>By <input name="count" type="number" min="1" value="${count}" required></label>
<label>Unit <select name="unit">${CLOCK_STEP_UNITS.map((each) => html`<option${each === unit && html` selected`}>${each}</option>`)}</select></label>`
}

function renderClockForecast({ outlook }: Data): Html {
  if (!outlook) {
    return html`<section class="card"><h2>No forecast</h2><p>The sandbox has more than ${MAX_FORECAST_ROWS.toLocaleString('en')} objects, which is too many to copy, or the duration is zero. Forecasts on a customer's page work at any size.</p></section>`
  }
  const steps = sortNewestFirst(outlook.steps)
  return html`<section class="card"><h2>Forecast until ${renderTime(outlook.until)}</h2>
<p><strong>${formatAmounts(outlook.paid)}</strong> will be paid, in ${formatCount(outlook.steps.length, 'step')}.</p>
${outlook.failedJobs.map((text) => html`<p class="quiet">Would fail: ${text}</p>`)}
${
  steps.length === 0
    ? renderEmptyNote('Nothing is due.')
    : html`<div class="two">${renderTable('Steps', outlook.counts, {
        Step: ([title]) => title,
        Times: ([, times]) => times,
      })}<ol class="timeline">${steps.slice(0, SHOWN).map((step) => renderFutureStep(step, { path: null, withCustomer: true }))}</ol></div>`
}
${steps.length > SHOWN && html`<p class="quiet">Only the last ${SHOWN} are shown.</p>`}</section>`
}

function saveAndReset(path: string): Html {
  return html`<section class="card"><h2>Save or reset</h2><div class="buttons">
<a class="button" href="/export" download="sandbox.json">Download the state</a>
<form method="post" action="/save">${renderReturnField(path)}<button>Save the state file</button></form></div>
<details><summary>Reset the sandbox</summary><p class="quiet">Deletes everything and sets the clock back to its start. The seed and the webhook URLs that the sandbox was started with are applied again. This cannot be undone.</p>
<form method="post" action="/reset">${renderReturnField('/')}<button class="danger">Reset the sandbox</button></form></details></section>`
}
