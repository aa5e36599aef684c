import { type Html, html } from '@tollgate/http'
import { type DunningOptions, getDunningOptions } from '../../stripe/state/context.ts'
import { MAIL_FAILURES } from '../actions/change-mail.ts'
import { MAX_DUNNING_RETRIES, MAX_RETRY_DAYS } from '../actions/set-dunning.ts'
import { CALL_FAILURES } from '../actions/simulate-failures.ts'
import { formatCount, renderBadge, renderEmptyNote, renderReturnField } from '../parts/elements.ts'
import { definePage, type PageRequest } from './page.ts'

function read({ sandbox }: PageRequest) {
  return {
    pending: sandbox.trouble.pending(),
    switches: sandbox.outbox.switches(),
    dunning: sandbox.stripe && getDunningOptions(sandbox.stripe.context),
    mail: sandbox.mail && { fault: sandbox.mail.fault() },
    kinds: Object.keys(CALL_FAILURES),
    providers: [sandbox.stripe && 'stripe', sandbox.braintree && 'braintree'].filter(
      (name) => name !== null,
    ),
  }
}

type Data = ReturnType<typeof read>

export const troublePage = definePage(read, (data, { path }) => ({
  title: 'Trouble',
  lead: 'Simulate failures. Each one stays pending until a matching call or charge occurs.',
  body: html`<div class="two"><section class="card"><h2>Failing calls</h2>${renderCallFailureForm(data, path)}</section>
<div class="stack"><section class="card"><h2>Pending failures</h2>${renderPendingFaults(data, path)}</section>
<section class="card"><h2>Declined charges</h2>${renderDeclineCharges(data, path)}</section>
${data.dunning && html`<section class="card"><h2>Failed payments at Stripe</h2>${retries(data.dunning, path)}</section>`}
<section class="card"><h2>Webhook delivery</h2>${webhooks(data, path)}</section>
${data.mail && html`<section class="card"><h2>Mail server</h2>${mailFailures(data.mail, path)}</section>`}</div></div>`,
}))

function renderCallFailureForm({ providers }: Data, path: string): Html {
  return html`<form method="post" action="/fail">${renderReturnField(path)}
<fieldset><legend>Kind of failure</legend>${Object.entries(CALL_FAILURES).map(
    ([kind, { name, help }], at) =>
      html`<label class="check"><input type="radio" name="kind" value="${kind}"${at === 0 && html` checked`}><span>${name}<small>${help}</small></span></label>`,
  )}</fieldset>
<div class="line"><label>Number of calls <input name="count" type="number" min="1" max="1000" value="1"></label>
<label>Provider <select name="provider"><option value="">any</option>${providers.map((each) => html`<option>${each}</option>`)}</select></label>
<button class="primary">Apply</button></div></form>`
}

function renderDeclineCharges({ pending }: Data, path: string): Html {
  return html`<p class="quiet">Declines the customer's next charge: by a call, a renewal or a retry.</p>
<form class="line" method="post" action="/decline">${renderReturnField(path)}<label class="grow">Customer <input name="customer" required placeholder="cus_…"></label>
<label>Code <input name="code" value="insufficient_funds" list="codes" size="18"></label><button class="primary">Apply</button></form>
<datalist id="codes"><option value="insufficient_funds"></option><option value="lost_card"></option><option value="expired_card"></option><option value="fraudulent"></option><option value="2000">Braintree: do not honor</option><option value="2001">Braintree: insufficient funds</option></datalist>
${pending.declines.map(({ customer, codes }) => html`<p><code>${customer}</code> ${codes.map((code) => html`${renderBadge(code, 'bad')} `)}</p>`)}`
}

const AFTER_LAST_RETRY_LABELS = {
  cancel: 'is canceled',
  unpaid: 'is unpaid',
  past_due: 'stays past due',
} as const satisfies Record<DunningOptions['afterLastRetry'], string>

function retries({ retryAfterDays, afterLastRetry }: DunningOptions, path: string): Html {
  return html`<p class="quiet">Retries after a failed renewal. For Braintree, call <code>changeSettings()</code>.</p>
<form class="line" method="post" action="/dunning">${renderReturnField(path)}<label class="grow">Days between attempts <input name="days" value="${retryAfterDays.join(', ')}" placeholder="never" aria-describedby="days-hint"></label>
<label>After the last retry, the subscription <select name="after">${Object.entries(AFTER_LAST_RETRY_LABELS).map(([value, text]) => html`<option value="${value}"${value === afterLastRetry && html` selected`}>${text}</option>`)}</select></label>
<button class="primary">Set</button></form>
<p class="quiet" id="days-hint">1 to ${MAX_RETRY_DAYS} days, at most ${MAX_DUNNING_RETRIES} times, such as 3, 5, 7; empty for no retries.</p>`
}

const SWITCHES = {
  duplicate: ['Duplicate', 'sends each webhook twice, as providers sometimes do'],
  reorder: ['Reorder', 'sends webhooks that are due together in reverse order'],
  corrupt: [
    'Corrupt the first attempt',
    'sends a damaged body, so the signature is invalid; retries send the correct body',
  ],
  drop: ['Drop', 'sends no webhooks; you can send each one manually'],
} as const

function webhooks({ switches }: Data, path: string): Html {
  const boxes = Object.entries(SWITCHES) as Array<
    [keyof typeof SWITCHES, readonly [string, string]]
  >
  return html`<form method="post" action="/deliveries">${renderReturnField(path)}<fieldset><legend>Faults, until you disable them</legend>${boxes.map(
    ([name, [title, help]]) =>
      html`<label class="check"><input type="checkbox" name="${name}"${switches[name] && html` checked`}><span>${title}<small>${help}</small></span></label>`,
  )}</fieldset>
<div class="line"><label>Delay in seconds <input name="delay" type="number" min="0" value="${switches.delaySeconds ?? 0}"></label><button class="primary">Set</button></div></form>`
}

function mailFailures({ fault }: NonNullable<Data['mail']>, path: string): Html {
  const present = fault === null ? 'none' : typeof fault === 'string' ? fault : 'slow'
  return html`<form method="post" action="/fail-mail">${renderReturnField(path)}<fieldset><legend>Kind of failure</legend>${Object.entries(
    MAIL_FAILURES,
  ).map(
    ([kind, { name, help }]) =>
      html`<label class="check"><input type="radio" name="kind" value="${kind}"${kind === present && html` checked`}><span>${name}<small>${help}</small></span></label>`,
  )}</fieldset>
<div class="line"><label>Number of mails (empty: no limit) <input name="count" type="number" min="1" max="1000"></label><button class="primary">Set</button></div></form>`
}

function renderPendingFaults({ pending }: Data, path: string): Html {
  const { calls, declines, held } = pending
  if (calls.length + declines.length + held === 0)
    return renderEmptyNote('No failures are pending.')
  const kinds = calls.map(({ kind, provider }) => {
    const name = typeof kind === 'string' ? kind : `${kind.slowMs} ms late`
    return html`${renderBadge(provider ? `${provider} ${name}` : name, 'warning')} `
  })
  return html`${calls.length > 0 && html`<p>${formatCount(calls.length, 'call')}: ${kinds.slice(0, 30)}</p>`}
${declines.length > 0 && html`<p>The next charge will be declined for ${formatCount(declines.length, 'customer')}.</p>`}
${held > 0 && html`<p>${formatCount(held, 'response')} held back.</p>`}
<div class="buttons">${held > 0 && html`<form method="post" action="/release">${renderReturnField(path)}<button>Send held responses</button></form>`}
<form method="post" action="/clear">${renderReturnField(path)}<button>Clear all</button></form></div>`
}
