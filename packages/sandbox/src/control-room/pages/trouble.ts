import { type Html, html } from '../../core/html.ts'
import { type DunningOptions, dunningOf } from '../../stripe/state/context.ts'
import { CALL_TROUBLES } from '../actions/make-trouble.ts'
import { LONGEST_DAYS, MOST_RETRIES } from '../actions/set-dunning.ts'
import { backField, badge, count, empty } from '../parts/bits.ts'
import { type Ask, definePage } from './page.ts'

function read({ watched }: Ask) {
  return {
    pending: watched.trouble.pending(),
    switches: watched.outbox.switches(),
    dunning: watched.stripe && dunningOf(watched.stripe.context),
    kinds: Object.keys(CALL_TROUBLES),
    providers: [watched.stripe && 'stripe', watched.braintree && 'braintree'].filter(
      (name) => name !== null,
    ),
  }
}

type Data = ReturnType<typeof read>

export const troublePage = definePage(read, (data, { path }) => ({
  title: 'Trouble',
  lead: 'Whatever can go wrong goes wrong when you say so. What is ordered here waits for its moment.',
  body: html`<div class="two"><section class="card"><h2>Calls that fail</h2>${calls(data, path)}</section>
<div class="stack"><section class="card"><h2>Waiting for its moment</h2>${waiting(data, path)}</section>
<section class="card"><h2>Charges that are declined</h2>${charges(data, path)}</section>
${data.dunning && html`<section class="card"><h2>Failed payments at Stripe</h2>${retries(data.dunning, path)}</section>`}
<section class="card"><h2>Webhooks on a bad day</h2>${webhooks(data, path)}</section></div></div>`,
}))

function calls({ providers }: Data, path: string): Html {
  return html`<form method="post" action="/fail">${backField(path)}
<fieldset><legend>How</legend>${Object.entries(CALL_TROUBLES).map(
    ([kind, { name, help }], at) =>
      html`<label class="check"><input type="radio" name="kind" value="${kind}"${at === 0 && html` checked`}><span>${name}<small>${help}</small></span></label>`,
  )}</fieldset>
<div class="line"><label>The next <input name="count" type="number" min="1" max="1000" value="1"></label>
<label>Calls to <select name="provider"><option value="">whoever is called</option>${providers.map((each) => html`<option>${each}</option>`)}</select></label>
<button class="primary">Order</button></div></form>`
}

function charges({ pending }: Data, path: string): Html {
  return html`<p class="quiet">The customer's next charge, whoever makes it: a call, a renewal, a retry.</p>
<form class="line" method="post" action="/decline">${backField(path)}<label class="grow">Customer <input name="customer" required placeholder="cus_…"></label>
<label>Code <input name="code" value="insufficient_funds" list="codes" size="18"></label><button class="primary">Order</button></form>
<datalist id="codes"><option value="insufficient_funds"></option><option value="lost_card"></option><option value="expired_card"></option><option value="fraudulent"></option><option value="2000">Braintree: do not honor</option><option value="2001">Braintree: insufficient funds</option></datalist>
${pending.declines.map(({ customer, codes }) => html`<p><code>${customer}</code> ${codes.map((code) => html`${badge(code, 'bad')} `)}</p>`)}`
}

const THEN = {
  cancel: 'is cancelled',
  unpaid: 'is unpaid',
  past_due: 'stays past due',
} as const satisfies Record<DunningOptions['afterLastRetry'], string>

function retries({ retryAfterDays, afterLastRetry }: DunningOptions, path: string): Html {
  return html`<p class="quiet">When a renewal is not paid. Braintree's own setting is <code>changeSettings()</code>.</p>
<form class="line" method="post" action="/dunning">${backField(path)}<label class="grow">Try again after days <input name="days" value="${retryAfterDays.join(', ')}" placeholder="never" aria-describedby="days-hint"></label>
<label>Then the subscription <select name="after">${Object.entries(THEN).map(([value, text]) => html`<option value="${value}"${value === afterLastRetry && html` selected`}>${text}</option>`)}</select></label>
<button class="primary">Set</button></form>
<p class="quiet" id="days-hint">1 to ${LONGEST_DAYS} days, at most ${MOST_RETRIES} times, as in 3, 5, 7; empty for never.</p>`
}

const SWITCHES = {
  duplicate: ['Send each twice', 'as providers do now and then'],
  reorder: ['Turn the order around', 'what is due together goes out last first'],
  corrupt: ['Damage the first attempt', 'its signature no longer fits; the retry is whole'],
  drop: ['Lose them', 'they are never sent, and can be sent by hand'],
} as const

function webhooks({ switches }: Data, path: string): Html {
  const boxes = Object.entries(SWITCHES) as Array<
    [keyof typeof SWITCHES, readonly [string, string]]
  >
  return html`<form method="post" action="/deliveries">${backField(path)}<fieldset><legend>Until it is switched off</legend>${boxes.map(
    ([name, [title, help]]) =>
      html`<label class="check"><input type="checkbox" name="${name}"${switches[name] && html` checked`}><span>${title}<small>${help}</small></span></label>`,
  )}</fieldset>
<div class="line"><label>Hold each back, seconds <input name="delay" type="number" min="0" value="${switches.delaySeconds ?? 0}"></label><button class="primary">Set</button></div></form>`
}

function waiting({ pending }: Data, path: string): Html {
  const { calls, declines, held } = pending
  if (calls.length + declines.length + held === 0) return empty('Nothing is ordered. All is well.')
  const kinds = calls.map(({ kind, provider }) => {
    const name = typeof kind === 'string' ? kind : `${kind.slowMs} ms late`
    return html`${badge(provider ? `${provider} ${name}` : name, 'warning')} `
  })
  return html`${calls.length > 0 && html`<p>${count(calls.length, 'call')}: ${kinds.slice(0, 30)}</p>`}
${declines.length > 0 && html`<p>${count(declines.length, 'customer')} whose next charges are declined.</p>`}
${held > 0 && html`<p>${count(held, 'response')} held back.</p>`}
<div class="buttons">${held > 0 && html`<form method="post" action="/release">${backField(path)}<button>Send what is held</button></form>`}
<form method="post" action="/clear">${backField(path)}<button>Forget all of it</button></form></div>`
}
