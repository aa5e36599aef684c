import { type Html, html } from '@tollgate/http'
import {
  countAllObjects,
  forecastUpcomingSteps,
  listNewestCustomers,
  listRecentSteps,
  type StepWithCustomerName,
} from '../model/overview.ts'
import {
  buildCustomerPath,
  formatAmounts,
  formatCount,
  renderEmptyNote,
  renderTime,
} from '../parts/elements.ts'
import { listMerchants } from '../story/merchants.ts'
import { renderCustomerTable } from './customers.ts'
import { definePage, type PageRequest } from './page.ts'

const SHOWN = 8

async function read({ sandbox }: PageRequest) {
  const { stripe, braintree, clock } = sandbox
  const [, ...others] = listMerchants(sandbox)
  return {
    now: clock.now().toISOString(),
    counts: countAllObjects(sandbox),
    coming: await forecastUpcomingSteps(sandbox, SHOWN),
    lately: listRecentSteps(sandbox, SHOWN),
    customers: listNewestCustomers(sandbox, SHOWN),
    failedJobs: sandbox.failures.list().slice(-SHOWN).reverse(),
    connect: {
      ...(stripe && {
        STRIPE_SECRET: stripe.handle.apiKey,
        STRIPE_API_URL: stripe.handle.url,
      }),
      ...(braintree && {
        BRAINTREE_MERCHANT_ID: braintree.handle.config.merchantId,
        BRAINTREE_PUBLIC_KEY: braintree.handle.config.publicKey,
        BRAINTREE_PRIVATE_KEY: braintree.handle.config.privateKey,
        BRAINTREE_API_URL: braintree.handle.url,
      }),
    },
    otherMerchants: others.map(({ context: { keys } }) => ({
      BRAINTREE_MERCHANT_ID: keys.merchantId,
      BRAINTREE_PUBLIC_KEY: keys.publicKey,
      BRAINTREE_PRIVATE_KEY: keys.privateKey,
    })),
  }
}

type Overview = Awaited<ReturnType<typeof read>>

export const overviewPage = definePage(read, (data) => ({
  title: 'Overview',
  lead: 'Local versions of Stripe and Braintree. Time stands still until you advance the clock.',
  body: html`${renderFigures(data)}
${failures(data)}
<div class="stack"><div class="two">
<section class="card"><h2>What comes next</h2>${data.coming.length > 0 ? stepList(data.coming, true) : renderEmptyNote('Nothing is scheduled. Create a subscription.')}</section>
<section class="card"><h2>What just happened</h2>${data.lately.length > 0 ? stepList(data.lately, false) : renderEmptyNote('Nothing has happened yet.')}</section>
</div>
<section class="card"><h2>Customers</h2>${data.customers.length > 0 ? html`${renderCustomerTable(data.customers)}<p><a href="/customers">All customers</a></p>` : renderEmptyNote('No customers yet. Connect an SDK with the settings below, or trigger an event.')}</section>
${renderConnectionHelp(data)}</div>`,
}))

function renderFigures({ counts }: Overview): Html {
  const figure = (value: string, label: string, tone: '' | 'bad' = '') =>
    html`<li class="${tone}"><strong>${value}</strong>${label}</li>`
  return html`<ul class="figures">${figure(counts.customers.toLocaleString('en'), 'customers')}
${figure(counts.running.toLocaleString('en'), 'active subscriptions')}
${figure(String(counts.pastDue), 'past due', counts.pastDue > 0 ? 'bad' : '')}
${figure(formatAmounts(counts.owed), 'owed')}
${figure(String(counts.undelivered), 'undelivered webhooks', counts.undelivered > 0 ? 'bad' : '')}
${figure(String(counts.failedJobs), 'failed jobs', counts.failedJobs > 0 ? 'bad' : '')}</ul>`
}

function failures({ failedJobs }: Overview): Html | '' {
  if (failedJobs.length === 0) return ''
  return html`<div class="status bad"><p><strong>${formatCount(failedJobs.length, 'due job')} failed.</strong> The clock continued; each job is retried after one day.</p>
<ul>${failedJobs.map(({ provider, job, key, message, retryAt }) => html`<li>${provider} ${job} <a href="/objects/${encodeURIComponent(key)}"><code>${key}</code></a>: ${message} Next attempt at ${renderTime(new Date(retryAt).toISOString())}.</li>`)}</ul></div>`
}

function stepList(steps: readonly StepWithCustomerName[], coming: boolean): Html {
  return html`<ol class="timeline">${steps.map((step) => {
    const { provider, merchant, customer, name } = step
    const link =
      customer === null
        ? step.facts[0]?.type
        : html`<a href="${buildCustomerPath({ provider, merchant, id: customer })}">${name ?? customer}</a>${merchant && ` · ${merchant}`}`
    return html`<li class="${step.tone}${coming && ' coming'}"><div class="when">${renderTime(step.at)}</div><div class="what"><h3>${step.title} ${step.amount && html`<span class="amount">${step.amount.text}</span>`}</h3><p class="quiet">${link}</p></div></li>`
  })}</ol>`
}

function renderConnectionHelp({ connect, otherMerchants }: Overview): Html {
  const toLines = (values: object) =>
    Object.entries(values).map(([name, value]) => `${name}=${value}`)
  const others = otherMerchants.flatMap((keys) => [
    '',
    `# merchant ${keys.BRAINTREE_MERCHANT_ID}`,
    ...toLines(keys),
  ])
  const lines = [...toLines(connect), ...others]
  return html`<section class="card"><h2>Connect</h2><p class="quiet">Settings for the official SDKs, or for a Tollgate service.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Keys and addresses">${lines.join('\n')}</div></section>`
}
