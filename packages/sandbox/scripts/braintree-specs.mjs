// Runs the integration specs of Braintree's SDK for Node against the sandbox and prints how many of
// each file pass. The specs are not part of this repository: pass the folder of a checkout. The
// exit code is 1 if a spec fails that braintree-specs/reasons.mjs does not list, or if a listed one
// passes.
//
//   git clone https://github.com/braintree/braintree_node && (cd braintree_node && npm install)
//   node packages/sandbox/scripts/braintree-specs.mjs <checkout> [--failures] [file …]
//
// A file is named by the beginning of its name, such as `customer_gateway`. Without a name, all
// files about calls of a merchant's server are run. The script uses the built sandbox; SANDBOX names
// another module. It starts with the merchants, accounts, plans, add-ons and discounts that the
// specs expect.
import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { judge, reasonsOf } from './braintree-specs/judge.mjs'
import { NOT_PASSED, NOT_RUN } from './braintree-specs/reasons.mjs'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    failures: { type: 'boolean', default: false },
    grep: { type: 'string' },
    // A failed expectation often appears only as a callback that is never called.
    timeout: { type: 'string', default: '5000' },
  },
})
const [checkout, ...names] = positionals
if (checkout === undefined) throw new Error('Which folder is the checkout of braintree_node in?')
const module =
  process.env.SANDBOX === undefined
    ? new URL('../dist/index.js', import.meta.url)
    : pathToFileURL(resolve(process.env.SANDBOX))
const { startSandbox } = await import(module)

const sandbox = await startSandbox({
  braintree: {
    ...merchant('integration', 'integration_merchant_id'),
    defaultMerchantAccount: 'sandbox_credit_card',
    merchants: [
      merchant('integration2', 'integration2_merchant_id'),
      merchant(
        'fraud_protection_enterprise_integration',
        'fraud_protection_enterprise_integration_merchant_id',
      ),
      merchant(
        'effortless_chargeback_protection',
        'fraud_protection_effortless_chargeback_protection_merchant_id',
      ),
    ],
  },
})
fill(sandbox.braintree)

const folder = join(resolve(checkout), 'test/integration/braintree')
const files = (await readdir(folder))
  .filter((file) => file.endsWith('_spec.js'))
  .map((file) => file.replace('_spec.js', ''))
  .filter((file) =>
    names.length === 0
      ? !Object.hasOwn(NOT_RUN, file)
      : names.some((name) => file.startsWith(name)),
  )
let passed = 0
let failed = 0
let problems = 0
for (const file of files) {
  const { stats, passes, failures } = await run(`${file}_spec.js`)
  passed += stats.passes
  failed += stats.failures
  const why = reasonsOf(file, NOT_PASSED).join(', ')
  say(`${file.padEnd(40)} ${count(stats)}  ${why}`)
  if (values.failures) {
    for (const { fullTitle, err } of failures) {
      say(`    ${fullTitle}\n        ${String(err.message).split('\n')[0]}`)
    }
  }
  // A part of a file proves nothing about the rest, and files that are not run have no entries.
  if (values.grep !== undefined || Object.hasOwn(NOT_RUN, file)) continue
  for (const problem of judge(file, { passes, failures }, NOT_PASSED)) {
    problems++
    say(`  ! ${problem}`)
  }
}
say(`${'all'.padEnd(40)} ${count({ passes: passed, failures: failed })}`)
if (problems > 0) {
  say(`${problems} differ from packages/sandbox/scripts/braintree-specs/reasons.mjs`)
  process.exitCode = 1
}
await sandbox.close()

function merchant(keys, merchantId) {
  return { merchantId, publicKey: `${keys}_public_key`, privateKey: `${keys}_private_key` }
}

function fill(braintree) {
  for (const [id, currency, extras] of [
    ['sandbox_credit_card_non_default', 'USD'],
    ['three_d_secure_merchant_account', 'USD'],
    ['fake_first_data_merchant_account', 'USD', { adjustsAuthorizations: true }],
    ['fake_amex_direct_usd', 'USD', { updatesDetails: false }],
    ['adyen_ma', 'USD'],
    ['card_processor_brl', 'BRL'],
    ['hiper_brl', 'BRL'],
    ['us_bank_merchant_account', 'USD'],
  ]) {
    braintree.defineMerchantAccount({ id, currency, ...extras })
  }
  for (const [id, amount] of Object.entries({ increase_10: 1000, increase_20: 2000 })) {
    braintree.defineAddOn({ id, amount })
  }
  for (const [id, amount] of Object.entries({ discount_7: 700, discount_11: 1100 })) {
    braintree.defineDiscount({ id, amount })
  }
  braintree.definePlan({
    id: 'integration_trialless_plan',
    price: 1234,
    numberOfBillingCycles: 12,
  })
  braintree.definePlan({
    id: 'integration_trial_plan',
    price: 4321,
    trial: { duration: 2, unit: 'day' },
  })
  braintree.definePlan({
    id: 'integration_plan_with_add_ons_and_discounts',
    price: 999,
    addOns: ['increase_10', 'increase_20'],
    discounts: ['discount_7', 'discount_11'],
  })
  // The specs repeat the same sale at one moment of the sandbox's clock.
  const settings = { duplicateWindowSeconds: 0, credits: true }
  braintree.changeSettings({ ...settings, customFields: ['store_me'] })
  // An older sandbox supports one merchant only.
  braintree
    .merchant?.('fraud_protection_enterprise_integration_merchant_id')
    .changeSettings({ ...settings, fraudProtection: true })
}

async function run(file) {
  const mocha = join(resolve(checkout), 'node_modules/mocha/bin/mocha')
  const only = values.grep === undefined ? [] : ['--grep', values.grep]
  const child = spawn(
    process.execPath,
    [
      mocha,
      ...['--timeout', values.timeout, '--exit', '--reporter', 'json', '-r', 'test/spec_helper'],
      ...only,
      join('test/integration/braintree', file),
    ],
    {
      cwd: resolve(checkout),
      env: {
        ...process.env,
        GATEWAY_HOST: '127.0.0.1',
        GATEWAY_PORT: new URL(sandbox.braintree.url).port,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await new Promise((done) => child.on('close', done))
  // Output of the SDK precedes the JSON.
  return JSON.parse(text.slice(text.indexOf('{\n  "stats"')))
}

function say(line) {
  process.stdout.write(`${line.trimEnd()}\n`)
}

function count({ passes, failures }) {
  return `${String(passes).padStart(4)} passed ${String(failures).padStart(4)} failed`
}
