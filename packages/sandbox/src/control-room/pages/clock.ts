import { addDuration } from '../../core/clock/clock.ts'
import { type Html, html } from '../../core/html.ts'
import { UNITS } from '../actions/move-clock.ts'
import { MOST_ROWS, outlook } from '../forecast/everything.ts'
import { amounts, backField, clockField, count, empty, moment } from '../parts/bits.ts'
import { table } from '../parts/table.ts'
import { comingItem } from '../parts/timeline.ts'
import { findTestClock, type TestClock, testClocks } from '../story/clocks.ts'
import { newestFirst } from '../story/step.ts'
import { type Ask, definePage } from './page.ts'

const SHOWN = 60
const CLOCKS = 100
/** Further ahead a copy would take too long for a page. */
const LONGEST = { years: 5 }

async function read({ watched, query }: Ask) {
  const chosen = findTestClock(watched, query.get('clock') ?? '')
  const now = chosen ? new Date(chosen.now) : watched.clock.now()
  const amount = Number(query.get('count') ?? '')
  const unit = UNITS.find((each) => each === query.get('unit')) ?? 'months'
  const asked = query.has('count')
  const isNumber = Number.isInteger(amount) && amount > 0
  const wanted = isNumber ? addDuration(now, { [unit]: Math.min(amount, 100_000) }) : now
  const until = new Date(Math.min(wanted.getTime(), addDuration(now, LONGEST).getTime()))
  return {
    now: now.toISOString(),
    chosen,
    testClocks: testClocks(watched).slice(0, CLOCKS),
    asked,
    count: isNumber ? amount : 1,
    unit,
    outlook: asked && isNumber ? await outlook(watched, until, chosen?.id) : null,
  }
}

type Data = Awaited<ReturnType<typeof read>>

export const clockPage = definePage(read, (data, { path }) => ({
  title: 'Clock',
  lead: html`It is ${moment(data.now)} UTC ${data.chosen ? html`on the test clock <strong>${nameOf(data.chosen)}</strong>` : 'in the sandbox'}. Everything that falls due on the way happens, in order.`,
  body: html`<div class="stack"><div class="two"><section class="card"><h2>Move it</h2>
<form class="line" method="post" action="/advance">${backField(path)}${clockField(data.chosen?.id)}${duration(data)}<button class="primary">Advance</button></form>
<form class="line" method="post" action="/advance-to">${backField(path)}${clockField(data.chosen?.id)}<label>To (UTC) <input type="datetime-local" name="date" value="${data.now.slice(0, 16)}" required></label><button>Advance</button></form>
<p class="quiet">An invoice of Stripe's is a draft for an hour before it is charged.</p></section>
<section class="card"><h2>What if</h2><p class="quiet">Tried on a copy of everything: nothing here changes, and no webhook is sent.</p>
<form class="line" method="get" action="/clock">${clockField(data.chosen?.id)}${duration(data)}<button class="primary">Try it</button></form></section></div>
${data.asked && result(data)}
${data.testClocks.length > 0 && choice(data)}
${keep(path)}</div>`,
}))

function nameOf({ name, id }: TestClock): string {
  return name ?? id
}

/** Which clock the forms above move. */
function choice({ chosen, testClocks }: Data): Html {
  const link = (id: string | null, text: string) =>
    id === (chosen?.id ?? null)
      ? html`<strong aria-current="true">${text}</strong>`
      : html`<a href="/clock${id !== null && `?clock=${id}`}">${text}</a>`
  return html`<section class="card"><h2>Which clock</h2>
<p class="quiet">What a customer on a test clock buys lives by that clock. Everything else lives by ${link(null, 'the sandbox’s own')}.</p>
${table('Test clocks', testClocks, {
  Clock: (clock) => link(clock.id, nameOf(clock)),
  Shows: ({ now }) => moment(now),
  Customers: ({ customers }) => customers,
  Status: ({ status }) => status,
})}</section>`
}

function duration({ count, unit }: Data): Html {
  return html`<label>By <input name="count" type="number" min="1" value="${count}" required></label>
<label>Unit <select name="unit">${UNITS.map((each) => html`<option${each === unit && html` selected`}>${each}</option>`)}</select></label>`
}

function result({ outlook }: Data): Html {
  if (!outlook) {
    return html`<section class="card"><h2>Then …</h2><p>There is too much in this sandbox for a copy (more than ${MOST_ROWS.toLocaleString('en')} objects), or no time would pass. A customer's own page can be asked at any size.</p></section>`
  }
  const steps = newestFirst(outlook.steps)
  return html`<section class="card"><h2>Then, until ${moment(outlook.until)}</h2>
<p><strong>${amounts(outlook.paid)}</strong> is paid, in ${count(outlook.steps.length, 'step')}.</p>
${outlook.failedJobs.map((text) => html`<p class="quiet">Would fail: ${text}</p>`)}
${
  steps.length === 0
    ? empty('Nothing falls due.')
    : html`<div class="two">${table('How often', outlook.counts, {
        What: ([title]) => title,
        Times: ([, times]) => times,
      })}<ol class="timeline">${steps.slice(0, SHOWN).map((step) => comingItem(step, { path: null, withCustomer: true }))}</ol></div>`
}
${steps.length > SHOWN && html`<p class="quiet">The last ${SHOWN} are shown.</p>`}</section>`
}

function keep(path: string): Html {
  return html`<section class="card"><h2>Keep or begin anew</h2><div class="buttons">
<a class="button" href="/export" download="sandbox.json">Download the state</a>
<form method="post" action="/save">${backField(path)}<button>Save the state file</button></form></div>
<details><summary>Empty the sandbox</summary><p class="quiet">The clock goes back to the beginning. Seeds and webhook addresses it was started with are there again. There is no way back.</p>
<form method="post" action="/reset">${backField('/')}<button class="danger">Empty the sandbox</button></form></details></section>`
}
