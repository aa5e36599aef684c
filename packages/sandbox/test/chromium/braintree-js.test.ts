import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import braintree from 'braintree'
import type { FrameLocator, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import {
  clickToClose,
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { type BraintreeSettings, startSandbox } from '../../src/index.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const TYPES = dirname(createRequire(import.meta.url).resolve('@types/braintree-web/package.json'))

/** Returns the member names of an interface or string union in the types of braintree-web. */
function declaredIn(file: string, name: string): Set<string> {
  const text = readFileSync(join(TYPES, file), 'utf8')
  const [, members] = new RegExp(`interface ${name}\\b[^{]*\\{\\n([^]*?)^\\}`, 'm').exec(text) ?? []
  const [, union = ''] = new RegExp(`type ${name} =([^;]*);`).exec(text) ?? []
  const found = members
    ? members.matchAll(/^ {4}(\w+)(?:<[^(]*>)?\??[(:]/gm)
    : union.matchAll(/"([\w-]+)"/g)
  return new Set([...found].flatMap(([, each]) => each ?? []))
}

const COMPONENTS = ['client', 'hosted-fields', 'three-d-secure', 'paypal-checkout']

interface Shop {
  readonly script: string
  readonly customerId?: string
  readonly verifyCard?: boolean
  readonly components?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly settings?: Partial<BraintreeSettings>
}

/**
 * Opens a shop on another origin whose page loads the scripts from the sandbox instead of
 * Braintree.
 */
async function openShop(shop: Shop) {
  const sandbox = await startSandbox({ braintree: true })
  closing.push(() => sandbox.close())
  const gateway = new braintree.BraintreeGateway(sandbox.braintree.config)
  await gateway.customer.create({ id: 'ada', paymentMethodNonce: 'fake-valid-amex-nonce' })
  sandbox.braintree.changeSettings(shop.settings ?? {})
  const { customerId, verifyCard = false, components = COMPONENTS } = shop
  const { clientToken } = await gateway.clientToken.generate(
    customerId ? { customerId, options: { verifyCard } } : {},
  )
  const scripts = components.map(
    (name) => `<script src="${sandbox.braintree.url}/web/3.144.0/js/${name}.min.js"></script>`,
  )
  const html = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
    <style>.field { height: 2.5rem; border: 1px solid; max-width: 20rem; margin-bottom: 1rem; }</style>
    <main><h1>Pay</h1><form>
    <label for="number">Number</label><div id="number" class="field"></div>
    <label for="date">Date</label><div id="date" class="field"></div>
    <label for="month">Month</label><div id="month" class="field"></div>
    <label for="year">Year</label><div id="year" class="field"></div>
    <label for="code">Code</label><div id="code" class="field"></div>
    <div id="paypal"></div>
    <button type="button" id="pay">Pay</button></form><output id="said"></output></main>
    ${scripts.join('\n')}
    <script type="module">const authorization = ${JSON.stringify(clientToken)}
    const said = (text) => { document.querySelector('#said').textContent = text }
    const pay = (run) => { document.querySelector('#pay').onclick = () => {
      said('working')
      Promise.resolve().then(run).then((value) => said('done ' + value), (error) => {
        window.problem = error
        said('error ' + (error.code || error.message))
      })
    } }
    ${shop.script}
    said('ready')</script></html>`
  const server = createServer((_request, response) => {
    const headers = { 'content-type': 'text/html; charset=utf-8', ...shop.headers }
    response.writeHead(200, headers).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    sandbox: sandbox.braintree,
    clock: sandbox.clock,
    gateway,
    url: `http://127.0.0.1:${port}/`,
  }
}

const CARD = `const client = await braintree.client.create({ authorization })
  const hosted = await braintree.hostedFields.create({
    client,
    fields: { number: { container: '#number' }, expirationDate: { container: '#date' }, cvv: { container: '#code' } },
  })`

const THREE_D_SECURE_EVENTS = [
  'lookup-complete',
  'customer-canceled',
  'authentication-modal-render',
  'authentication-modal-close',
]

const VERIFIED = `${CARD}
  const threeDSecure = await braintree.threeDSecure.create({ version: 2, client })
  window.heard = []
  for (const name of ${JSON.stringify(THREE_D_SECURE_EVENTS.slice(1))}) {
    threeDSecure.on(name, () => heard.push(name))
  }
  pay(async () => {
    const { nonce, details } = await hosted.tokenize()
    const payload = await threeDSecure.verifyCard({
      nonce, bin: details.bin, amount: '10.00', onLookupComplete: (_data, next) => next(),
    })
    const { status, liabilityShifted, liabilityShiftPossible } = payload.threeDSecureInfo
    return [payload.nonce, status, liabilityShifted, liabilityShiftPossible].join(' ')
  })`

const PAYPAL = `const client = await braintree.client.create({ authorization })
  const checkout = await braintree.paypalCheckout.create({ client })
  await checkout.loadPayPalSDK({ vault: true })
  await paypal.Buttons({
    createBillingAgreement: () => window.fails ? Promise.reject(new Error('no agreement')) : checkout.createPayment({ flow: 'vault' }),
    onApprove: async (data) => {
      const { nonce, type, details } = await checkout.tokenizePayment({ ...data, vault: false })
      said('done ' + nonce + ' ' + type + ' ' + details.email)
    },
    onCancel: () => said('canceled'),
    onError: (error) => said('error ' + error.message),
  }).render('#paypal')`

/** Creates fields of every kind and records all their events. */
const EVERY_EVENT = `window.heard = []
  window.hosted = await braintree.hostedFields.create({
    authorization,
    fields: {
      number: { selector: '#number' },
      expirationMonth: { container: '#month' },
      expirationYear: { container: document.querySelector('#year') },
      cvv: { container: '#code' },
    },
  })
  const names = ['focus', 'blur', 'empty', 'notEmpty', 'cardTypeChange', 'validityChange', 'inputSubmitRequest']
  window.listeners = names.map((type) => [type, ({ emittedBy }) => heard.push(type + ' ' + emittedBy)])
  for (const [type, listener] of listeners) hosted.on(type, listener)
  hosted.on('binAvailable', ({ bin }) => { document.title = bin })
  pay(async () => (await hosted.tokenize(window.given || {})).nonce)`

const GOOD = '4111 1111 1111 1111'
const ASKS = '4000000000002503'

describeInChromium("the replacement for Braintree's browser scripts", ({ newPage, forgive }) => {
  async function open(url: string, settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const page = await newPage(settings)
    await page.goto(url)
    await said(page, /^ready/)
    return page
  }
  async function said(page: Page, text = /^(?:done|error|canceled)/): Promise<string> {
    const output = page.locator('#said')
    await output.filter({ hasText: text }).waitFor()
    return (await output.textContent()) ?? ''
  }
  async function pay(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    return said(page)
  }
  const frame = (page: Page, field: string): FrameLocator =>
    page.frameLocator(`iframe[name="braintree-hosted-field-${field}"]`)
  const input = (page: Page, field: string) => frame(page, field).getByRole('textbox')
  async function type(page: Page, number: string): Promise<void> {
    await input(page, 'number').fill(number)
    await input(page, 'expirationDate').fill('12/30')
    await input(page, 'cvv').fill('123')
  }
  const bank = (page: Page) => page.frameLocator('#Cardinal-CCA-IFrame')
  const nonceOf = (text: string) => text.split(' ')[1] ?? ''

  it('Hosted Fields exchange a card typed into frames for a nonce that the server can store', async () => {
    const { gateway, url } = await openShop({
      script: `${CARD}; pay(async () => (await hosted.tokenize()).nonce)`,
    })
    const page = await open(url)
    await type(page, GOOD)
    await expectAccessible(page)
    await takeScreenshot(page, 'braintree-hosted-fields')
    const paymentMethodNonce = nonceOf(await pay(page))
    const { customer } = await gateway.customer.create({ paymentMethodNonce })
    expect(customer.creditCards).toMatchObject([{ last4: '1111', expirationDate: '12/2030' }])
    // The page itself never receives the number.
    expect(await page.content()).not.toContain('1111')
  })

  it('Hosted Fields name each frame and its input, and are reachable by labels and keyboard in order', async () => {
    const { url } = await openShop({ script: CARD })
    const page = await open(url)
    const titles = await page
      .locator('iframe')
      .evaluateAll((all) => all.map((each) => each.getAttribute('title')))
    expect(titles).toEqual([
      'Secure Credit Card Frame - Credit Card Number',
      'Secure Credit Card Frame - Expiration Date',
      'Secure Credit Card Frame - CVV',
    ])
    // Focus moves between frames of two origins asynchronously; keys pressed earlier are lost.
    const typeOnceFocused = async (field: string, keys: string) => {
      await expect
        .poll(() =>
          input(page, field).evaluate(
            (each) => each.ownerDocument.hasFocus() && each.matches(':focus'),
          ),
        )
        .toBe(true)
      await page.keyboard.type(keys)
    }
    await page.getByText('Date', { exact: true }).click()
    await typeOnceFocused('expirationDate', '1230')
    await page.keyboard.press('Tab')
    await typeOnceFocused('cvv', '123')
    await page.keyboard.press('Shift+Tab')
    await typeOnceFocused('expirationDate', '')
    await page.keyboard.press('Shift+Tab')
    await typeOnceFocused('number', '4111')
    const values = ['number', 'expirationDate', 'cvv'].map((field) =>
      input(page, field).inputValue(),
    )
    expect(await Promise.all(values)).toEqual(['4111', '1230', '123'])
    await frame(page, 'number').getByLabel('Credit Card Number').waitFor()
  })

  it('Hosted Fields report which fields are empty or invalid, with the containers of the fields', async () => {
    const { url } = await openShop({ script: `${CARD}; pay(() => hosted.tokenize())` })
    const page = await open(url)
    expect(await pay(page)).toBe('error HOSTED_FIELDS_FIELDS_EMPTY')
    await type(page, '4111111111111112')
    await input(page, 'expirationDate').fill('12/20')
    await page.evaluate(`document.querySelector('#said').textContent = ''`)
    expect(await pay(page)).toBe('error HOSTED_FIELDS_FIELDS_INVALID')
    expect(
      await page.evaluate(
        '[problem.type, problem.details.invalidFieldKeys, Object.values(problem.details.invalidFields).map(({ id }) => id)]',
      ),
    ).toEqual(['CUSTOMER', ['number', 'expirationDate'], ['number', 'date']])
  })

  it('Hosted Fields emit events about their fields', async () => {
    const { url } = await openShop({ script: EVERY_EVENT, components: ['hosted-fields'] })
    const page = await open(url)
    // The events of one step may arrive in several messages, so they are removed only when all are
    // there.
    const expectEvents = async (...events: string[]) => {
      await expect.poll(() => page.evaluate('heard')).toEqual(events)
      await page.evaluate('heard.splice(0)')
    }
    const state = (name: string) =>
      page.evaluate(`(({ container, ...rest }) => rest)(hosted.getState().fields.${name})`)
    const number = input(page, 'number')
    expect(await state('number')).toEqual({
      isEmpty: true,
      isValid: false,
      isPotentiallyValid: true,
      isFocused: false,
    })
    await number.pressSequentially('4')
    await expectEvents('focus number', 'notEmpty number', 'cardTypeChange number')
    await number.pressSequentially('111 1111 1111 1111')
    await expectEvents('validityChange number')
    expect(await page.evaluate('hosted.getState().cards')).toEqual([
      { type: 'visa', niceType: 'Visa', code: { name: 'CVV', size: 3 } },
    ])
    expect(await page.title()).toBe('411111')
    expect(await state('number')).toMatchObject({ isEmpty: false, isValid: true, isFocused: true })
    expect(await page.locator('#number').getAttribute('class')).toMatch(
      /fields-focused.*fields-valid/,
    )
    await number.press('Enter')
    await expectEvents('inputSubmitRequest number')
    await input(page, 'expirationMonth').fill('13')
    await expectEvents(
      'blur number',
      'focus expirationMonth',
      'notEmpty expirationMonth',
      'validityChange expirationMonth',
    )
    expect(await page.locator('#month').getAttribute('class')).toContain('fields-invalid')
    await page.evaluate('for (const [type, listener] of listeners) hosted.off(type, listener)')
    await number.fill('')
    await expect.poll(() => state('number')).toMatchObject({ isEmpty: true })
    expect(await page.evaluate('heard')).toEqual([])
  })

  it('Hosted Fields accept month and year in separate fields, and details that the page already has', async () => {
    const { gateway, url } = await openShop({ script: EVERY_EVENT })
    const page = await open(url)
    await input(page, 'number').fill('378282246310005')
    await input(page, 'expirationMonth').fill('12')
    await input(page, 'cvv').fill('123')
    expect(await pay(page)).toBe('error HOSTED_FIELDS_FIELDS_INVALID')
    expect(await page.evaluate('problem.details.invalidFieldKeys')).toEqual([
      'expirationYear',
      'cvv',
    ])
    await input(page, 'expirationYear').fill('2030')
    await input(page, 'cvv').fill('1234')
    await page.evaluate('given = { authenticationInsight: {} }')
    expect(await pay(page)).toBe('error NOT_IMITATED')
    expect(await page.evaluate('problem.message')).toContain('authenticationInsight of tokenize()')
    await page.evaluate(
      `given = { cardholderName: 'Ada Lovelace', billingAddress: { postalCode: '94107' } }`,
    )
    const paymentMethodNonce = nonceOf(await pay(page))
    const { customer } = await gateway.customer.create({ paymentMethodNonce })
    expect(customer.creditCards).toMatchObject([
      {
        expirationDate: '12/2030',
        cardholderName: 'Ada Lovelace',
        billingAddress: { postalCode: '94107' },
      },
    ])
    const refused = page.evaluate('hosted.setMonthOptions([])')
    await expect(refused).rejects.toThrow('does not imitate hostedFields.setMonthOptions()')
  })

  it('Hosted Fields change placeholders, messages, classes and attributes of fields, and remove the fields on teardown', async () => {
    const { url } = await openShop({ script: EVERY_EVENT })
    const page = await open(url)
    const number = input(page, 'number')
    await page.evaluate(`Promise.all([
      hosted.setAttribute({ field: 'number', attribute: 'aria-invalid', value: true }),
      hosted.setPlaceholder('number', '1234'),
      hosted.addClass('number', 'mine'),
      hosted.focus('number'),
    ])`)
    await page.evaluate(`hosted.setMessage({ field: 'number', message: 'No such card' })`)
    await expect.poll(() => number.getAttribute('aria-invalid')).toBe('true')
    await frame(page, 'number').getByText('No such card').waitFor({ state: 'attached' })
    expect([await number.getAttribute('placeholder'), await number.getAttribute('class')]).toEqual([
      '1234',
      'number mine',
    ])
    await page.keyboard.type('4')
    expect(await number.inputValue()).toBe('4')
    await page.evaluate(`Promise.all([
      hosted.removeAttribute({ field: 'number', attribute: 'aria-invalid' }),
      hosted.removeClass('number', 'mine'),
      hosted.clear('number'),
    ])`)
    await expect.poll(() => number.inputValue()).toBe('')
    expect(await number.getAttribute('aria-invalid')).toBeNull()
    const codes = await page.evaluate(`Promise.all([
      hosted.focus('postalCode'),
      hosted.focus('shoe size'),
      hosted.setAttribute({ field: 'number', attribute: 'style', value: '' }),
    ].map((each) => each.catch(({ code }) => code)))`)
    expect(codes).toEqual([
      'HOSTED_FIELDS_FIELD_NOT_PRESENT',
      'HOSTED_FIELDS_FIELD_INVALID',
      'HOSTED_FIELDS_ATTRIBUTE_NOT_SUPPORTED',
    ])
    await page.evaluate('hosted.teardown()')
    expect(await page.locator('iframe').count()).toBe(0)
    await expect(page.evaluate('hosted.getState()')).rejects.toThrow('after teardown')
  })

  it("Hosted Fields apply the page's colors and fonts, and ignore all other styles", async () => {
    const { url } = await openShop({
      script: `const styles = { input: { color: 'rgb(1, 2, 3)', background: 'red' }, '.invalid': { color: 'rgb(9, 9, 9)' } }
        await braintree.hostedFields.create({ authorization, styles, fields: { number: { container: '#number' } } })`,
    })
    const page = await open(url)
    const look = () =>
      input(page, 'number').evaluate((element) => {
        const { color, backgroundColor } = getComputedStyle(element)
        return [color, backgroundColor]
      })
    expect(await look()).toEqual(['rgb(1, 2, 3)', 'rgba(0, 0, 0, 0)'])
    await input(page, 'number').fill('x')
    expect(await look()).toEqual(['rgb(9, 9, 9)', 'rgba(0, 0, 0, 0)'])
  })

  it.each([
    ['no fields', '{ authorization, fields: {} }', 'INSTANTIATION_OPTION_REQUIRED'],
    [
      'no authorization',
      `{ fields: { number: { container: '#number' } } }`,
      'INSTANTIATION_OPTION_REQUIRED',
    ],
    [
      'an invalid token',
      `{ authorization: 'x', fields: { number: { container: '#number' } } }`,
      'CLIENT_INVALID_AUTHORIZATION',
    ],
    [
      'an unknown field',
      `{ authorization, fields: { shoe: { container: '#number' } } }`,
      'HOSTED_FIELDS_INVALID_FIELD_KEY',
    ],
    [
      'no container',
      `{ authorization, fields: { number: { container: '#nowhere' } } }`,
      'HOSTED_FIELDS_INVALID_FIELD_SELECTOR',
    ],
    [
      'one container twice',
      `{ authorization, fields: { number: { container: '#number' }, cvv: { container: '#number' } } }`,
      'HOSTED_FIELDS_FIELD_DUPLICATE_IFRAME',
    ],
  ])('Hosted Fields reject %s', async (_name, options, code) => {
    const { url } = await openShop({
      script: `pay(() => braintree.hostedFields.create(${options}))`,
    })
    expect(await pay(await open(url))).toBe(`error ${code}`)
  })

  it('all components accept callbacks as well as promises', async () => {
    const { url } = await openShop({
      script: `document.querySelector('#pay').onclick = () => braintree.client.create({ authorization }, (_error, client) =>
        braintree.hostedFields.create({ client, fields: { number: { container: '#number' } } }, (_error, hosted) =>
          hosted.tokenize((error) => said('error ' + error.code))))`,
    })
    expect(await pay(await open(url))).toBe('error HOSTED_FIELDS_FIELDS_EMPTY')
  })

  it("Hosted Fields store a card in the customer's vault on request, unless its verification fails", async () => {
    const script = `${CARD}; pay(async () => (await hosted.tokenize(window.given || {})).nonce)`
    const { sandbox, url } = await openShop({ script, customerId: 'ada', verifyCard: true })
    const page = await open(url)
    forgive(page, /422/)
    const cards = () => sandbox.paymentMethods('ada').length
    await type(page, GOOD)
    expect([await pay(page), cards()]).toEqual([expect.stringContaining('done'), 1])
    await page.evaluate(`given = { vault: true }`)
    expect([await pay(page), cards()]).toEqual([expect.stringContaining('done'), 2])
    await type(page, '4000111111111115')
    expect([await pay(page), cards()]).toEqual(['error HOSTED_FIELDS_FAILED_TOKENIZATION', 2])
  })

  it('the client component reports an expired client token and a network failure', async () => {
    const { clock, url } = await openShop({ script: `${CARD}; pay(() => hosted.tokenize())` })
    const page = await open(url)
    forgive(page, /401|ERR_FAILED/)
    await type(page, GOOD)
    await page.route('**/client_api/**', (route) => route.abort())
    expect(await pay(page)).toBe('error HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR')
    await page.unrouteAll()
    await clock.advance({ days: 2 })
    expect(await pay(page)).toBe('error HOSTED_FIELDS_FAILED_TOKENIZATION')
    expect(await page.evaluate('problem.details.originalError.code')).toBe(
      'CLIENT_AUTHORIZATION_INVALID',
    )
  })

  it.each([
    ['4000000000002701', 'authenticate_successful true true'],
    ['4000000000002925', 'authenticate_frictionless_failed false true'],
    ['4000000000002719', 'authenticate_attempt_successful true true'],
    ['4000000000001059', 'authentication_unavailable false false'],
    ['4111111111111111', 'lookup_not_enrolled false false'],
  ])(
    '3-D Secure verifies the card %s without a challenge, with the status %s',
    async (number, outcome) => {
      const { gateway, url } = await openShop({ script: VERIFIED })
      const page = await open(url)
      await type(page, number)
      const answer = await pay(page)
      expect(answer).toContain(outcome)
      const { threeDSecureInfo } = await gateway.paymentMethodNonce.find(nonceOf(answer))
      expect(threeDSecureInfo).toMatchObject({ status: outcome.split(' ')[0] })
    },
  )

  it.each([
    ['Complete', 'authenticate_successful true true'],
    ['Fail', 'authenticate_failed false true'],
  ])(
    "3-D Secure shows the bank's challenge over the page, and the button %s leads to the status %s",
    async (button, outcome) => {
      const { gateway, url } = await openShop({ script: VERIFIED })
      const page = await open(url)
      await type(page, ASKS)
      await page.getByRole('button', { name: 'Pay', exact: true }).click()
      await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
      await expectAccessible(page)
      await takeScreenshot(page, 'braintree-bank-asks')
      await bank(page).getByRole('button', { name: button }).click()
      const answer = await said(page)
      expect(answer).toContain(outcome)
      expect(await page.evaluate('heard')).toEqual([
        'authentication-modal-render',
        'authentication-modal-close',
      ])
      // The verification of the stored card contains the result.
      const { paymentMethod } = await gateway.paymentMethod.create({
        customerId: 'ada',
        paymentMethodNonce: nonceOf(answer),
        options: { verifyCard: true },
      })
      const [verification] = (paymentMethod as { verifications?: object[] }).verifications ?? []
      expect(verification).toMatchObject({ threeDSecureInfo: { status: outcome.split(' ')[0] } })
    },
  )

  it('3-D Secure treats a closed challenge as failed, and emits an event', async () => {
    const { url } = await openShop({ script: VERIFIED })
    const page = await open(url)
    await type(page, ASKS)
    for (const giveUp of [
      () => page.getByRole('button', { name: 'Cancel' }).click(),
      () => page.keyboard.press('Escape'),
    ]) {
      await page.getByRole('button', { name: 'Pay', exact: true }).click()
      await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
      await giveUp()
      expect(await said(page)).toContain('authenticate_failed false true')
      expect(await page.evaluate('heard.splice(0)')).toContain('customer-canceled')
    }
  })

  it('3-D Secure rejects a verification that is incomplete, already running, or for another card', async () => {
    const { url } = await openShop({
      script: `${CARD}
        const threeDSecure = await braintree.threeDSecure.create({ version: '2', client })
        const verify = (options) => threeDSecure.verifyCard(options).catch(({ code }) => code)
        const next = (_data, go) => go()
        pay(async () => {
          const { nonce, details: { bin } } = await hosted.tokenize()
          const all = { nonce, bin, amount: '10.00', onLookupComplete: next }
          const missing = []
          for (const name of Object.keys(all)) missing.push(await verify({ ...all, [name]: undefined }))
          const unknown = await verify({ ...all, nonce: 'nothing' })
          const wrong = await verify({ ...all, amount: '-1' })
          const canceled = verify({ ...all, onLookupComplete: () => threeDSecure.cancelVerifyCard() })
          const twice = await verify(all)
          return JSON.stringify([...new Set(missing), unknown, wrong, twice, await canceled,
            await threeDSecure.cancelVerifyCard().catch(({ code }) => code)])
        })`,
    })
    const page = await open(url)
    forgive(page, /404|422/)
    await type(page, GOOD)
    expect(JSON.parse((await pay(page)).replace('done ', ''))).toEqual([
      'THREEDS_MISSING_VERIFY_CARD_OPTION',
      'THREEDS_LOOKUP_TOKENIZED_CARD_NOT_FOUND_ERROR',
      'THREEDS_LOOKUP_VALIDATION_ERROR',
      'THREEDS_AUTHENTICATION_IN_PROGRESS',
      'THREEDS_VERIFY_CARD_CANCELED_BY_MERCHANT',
      'THREEDS_NO_VERIFICATION_PAYLOAD',
    ])
  })

  it("the 3-D Secure and PayPal components are available only if the merchant's settings enable them", async () => {
    const { url } = await openShop({
      settings: { threeDSecure: false, paypal: false, challenges: ['postal_code'] },
      script: `const codeOf = (promise) => promise.catch(({ code }) => code)
        const hosted = await braintree.hostedFields.create({ authorization, fields: { number: { container: '#number' } } })
        pay(async () => [
          await codeOf(braintree.threeDSecure.create({ version: 2, authorization })),
          await codeOf(braintree.threeDSecure.create({ authorization })),
          await codeOf(braintree.threeDSecure.create({ version: 3, authorization })),
          await codeOf(braintree.paypalCheckout.create({ authorization })),
          await hosted.getChallenges(),
        ].join(' '))`,
    })
    expect(await pay(await open(url))).toBe(
      'done THREEDS_NOT_ENABLED THREEDS_UNSUPPORTED_VERSION THREEDS_UNRECOGNIZED_VERSION PAYPAL_NOT_ENABLED postal_code',
    )
  })

  it('the components have only methods and events that Braintree declares, and almost all of them', async () => {
    const { url } = await openShop({
      script: `${VERIFIED}
        const checkout = await braintree.paypalCheckout.create({ client })
        window.all = { client, hostedFields: hosted, threeDSecure, paypalCheckout: checkout }`,
    })
    const page = await open(url)
    const own = await page.evaluate<Record<string, string[]>>(
      'Object.fromEntries(Object.entries(all).map(([name, each]) => [name, Object.keys(each)]))',
    )
    const compare = (name: string, file: string, declaration: string) => {
      const declared = declaredIn(file, declaration)
      const methods = own[name] ?? []
      const more = methods.filter((method) => !declared.has(method))
      return { more, missing: [...declared].filter((method) => !methods.includes(method)) }
    }
    expect(compare('client', 'client.d.ts', 'Client')).toEqual({
      // Missing from the types.
      more: ['getVersion'],
      missing: ['authorization'],
    })
    expect(compare('hostedFields', 'hosted-fields.d.ts', 'HostedFields')).toEqual({
      more: [],
      missing: ['styleOptions', 'setMonthOptions'],
    })
    expect(compare('threeDSecure', 'three-d-secure.d.ts', 'ThreeDSecure')).toEqual({
      more: [],
      missing: ['addFrameCallback', 'removeFrameCallback', 'prepareLookup'],
    })
    expect(compare('paypalCheckout', 'paypal-checkout.d.ts', 'PayPalCheckout')).toEqual({
      more: [],
      missing: ['startVaultInitiatedCheckout', 'updatePayment'],
    })
    const heard = [...EVERY_EVENT.matchAll(/'([a-z]+[A-Z]?[A-Za-z]*)'(?=[,\]])/g)].map(
      ([, name]) => name,
    )
    const events = declaredIn('hosted-fields.d.ts', 'HostedFieldsEventTypeMap')
    expect(new Set([...heard, 'binAvailable'])).toEqual(events)
    const declared = declaredIn('three-d-secure.d.ts', 'ThreeDSecureEvent')
    expect([...declared].filter((name) => !THREE_D_SECURE_EVENTS.includes(name))).toEqual([
      'authentication-iframe-available',
    ])
    expect(THREE_D_SECURE_EVENTS.filter((name) => !declared.has(name))).toEqual([])
  })

  async function openPayPal(page: Page): Promise<Page> {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.frameLocator('iframe[title="PayPal"]').getByRole('button', { name: 'PayPal' }).click(),
    ])
    await popup.waitForURL(/ba_token=BA-/)
    return popup
  }

  it("PayPal Checkout lets a payer approve in PayPal's window, and returns a nonce that the server can store", async () => {
    const { gateway, url } = await openShop({ script: PAYPAL })
    const page = await open(url)
    const popup = await openPayPal(page)
    await expectAccessible(popup)
    await takeScreenshot(popup, 'braintree-paypal-window')
    await clickToClose(popup, popup.getByRole('button', { name: 'Agree and Continue' }))
    const answer = await said(page)
    expect(answer).toMatch(/PayPalAccount \S+@/)
    const { customer } = await gateway.customer.create({ paymentMethodNonce: nonceOf(answer) })
    expect(customer.paypalAccounts).toHaveLength(1)
  })

  it('PayPal Checkout reports that the payer canceled or closed the window, or that no agreement could be started', async () => {
    const { url } = await openShop({ script: PAYPAL })
    const page = await open(url)
    const popup = await openPayPal(page)
    await clickToClose(popup, popup.getByRole('button', { name: 'Cancel' }))
    expect(await said(page)).toBe('canceled')
    await page.evaluate(`document.querySelector('#said').textContent = ''`)
    await (await openPayPal(page)).close()
    expect(await said(page)).toBe('canceled')
    await page.evaluate(`window.fails = true; document.querySelector('#said').textContent = ''`)
    await page
      .frameLocator('iframe[title="PayPal"]')
      .getByRole('button', { name: 'PayPal' })
      .click()
    expect(await said(page)).toBe('error no agreement')
  })

  it("PayPal Checkout cannot open PayPal's window from a page with a strict cross-origin opener policy", async () => {
    const headers = { 'cross-origin-opener-policy': 'same-origin' }
    const { url } = await openShop({ script: PAYPAL, headers })
    const page = await open(url)
    await page
      .frameLocator('iframe[title="PayPal"]')
      .getByRole('button', { name: 'PayPal' })
      .click()
    expect(await said(page)).toBe('error Unable to open popup window')
  })
})
