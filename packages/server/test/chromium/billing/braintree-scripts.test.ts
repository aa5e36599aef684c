import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Billing } from '@tollgate/billing'
import { startBilling } from '@tollgate/billing/testing'
import { startSandbox } from '@tollgate/sandbox'
import braintree from 'braintree'
import { afterEach, expect, it } from 'vitest'
import { describeInChromium, expectAccessible } from '../../../../../test-support/chromium.ts'
import { importFromDocs } from '../../../../../test-support/docs-module.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A shop whose page loads the scripts from the sandbox instead of Braintree. */
async function openShop(options: {
  readonly customerId?: string
  readonly verifyCard?: boolean
  readonly script: string
}) {
  const sandbox = await startSandbox({ braintree: true })
  closing.push(() => sandbox.close())
  const gateway = new braintree.BraintreeGateway(sandbox.braintree.config)
  await gateway.customer.create({ id: 'ada', paymentMethodNonce: 'fake-valid-amex-nonce' })
  const { customerId, verifyCard = false } = options
  const { clientToken } = await gateway.clientToken.generate(
    customerId ? { customerId, options: { verifyCard } } : {},
  )
  const scripts = [
    'web/3.97.0/js/client',
    'web/3.97.0/js/hosted-fields',
    'web/dropin/1.43.0/js/dropin',
  ]
  const html = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
    <main><h1>Pay</h1><div id="container"></div><div id="number"></div><div id="date"></div>
    <button type="button" id="pay">Pay</button><output id="said"></output></main>
    ${scripts.map((path) => `<script src="${sandbox.braintree.url}/${path}.min.js"></script>`).join('')}
    <script>const authorization = ${JSON.stringify(clientToken)}
    const said = (text) => { document.querySelector('#said').textContent = text }
    const pay = document.querySelector('#pay')
    ${options.script}</script></html>`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { sandbox, gateway, url: `http://127.0.0.1:${port}/` }
}

interface Guide {
  payRoutes(
    billing: Billing,
    signedIn: () => Promise<number>,
  ): { fetch(request: Request): Promise<Response> }
}

/** The page of docs/guides/pay-page.md, word for word, but for the host of the script. */
async function openPayPage() {
  const { billing, sandbox, user, close } = await startBilling({ defaultProvider: 'braintree' })
  closing.push(close)
  const { payRoutes } = await importFromDocs<Guide>('docs/guides/pay-page.md', 'payRoutes')
  const app = payRoutes(billing, async () => Number(user.id))
  const server = createServer(async (message, response) => {
    const { method = 'GET', url = '/', headers } = message
    const body = method === 'POST' ? await text(message) : null
    const type = headers['content-type'] ?? ''
    const request = new Request(`http://localhost${url}`, {
      method,
      body,
      headers: { 'content-type': type },
    })
    const answer = url === '/pay' ? await app.fetch(request) : new Response('Your account')
    const html = await answer.text()
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(html.replace('https://js.braintreegateway.com', sandbox.braintree.url))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { user, url: `http://127.0.0.1:${port}/pay` }
}

const DROP_IN = `braintree.dropin.create({ authorization, container: '#container' }).then((dropin) => {
  said('ready')
  pay.onclick = () => dropin.requestPaymentMethod()
    .then(({ nonce }) => said('nonce ' + nonce), (error) => said(error.code))
})`

const HOSTED_FIELDS = `braintree.client.create({ authorization }, (_error, client) => {
  const fields = { number: { selector: '#number' }, expirationDate: { selector: '#date' } }
  braintree.hostedFields.create({ client, fields }, (_error, hosted) => {
    said('ready')
    pay.onclick = () => hosted.tokenize((error, payload) =>
      said(error ? error.code : 'nonce ' + payload.nonce))
  })
})`

/** Fields of every kind, with all that a page may hear of them. */
const EVERY_FIELD = `const place = (id) => {
  const element = Object.assign(document.createElement('div'), { id })
  document.querySelector('#container').append(element)
  return { container: '#' + id }
}
const fields = {
  number: { selector: '#number' },
  expirationMonth: place('month'),
  expirationYear: place('year'),
  cvv: place('cvv-field'),
}
window.heard = []
braintree.hostedFields.create({ authorization, fields }).then((hosted) => {
  window.hosted = hosted
  const hear = ({ type, emittedBy }) => heard.push(type + ' ' + emittedBy)
  const names = ['focus', 'blur', 'empty', 'notEmpty', 'cardTypeChange', 'validityChange', 'inputSubmitRequest']
  window.listeners = names.map((type) => [type, (event) => hear({ ...event, type })])
  for (const [type, listener] of listeners) hosted.on(type, listener)
  said('ready')
  pay.onclick = () => hosted.tokenize(window.given || {})
    .then(({ nonce }) => said('nonce ' + nonce), (error) => said(error.code + ' ' + (error.details && error.details.invalidFieldKeys || error.message)))
})`

describeInChromium('the stand-ins for the scripts of Braintree', ({ newPage, forgive }) => {
  async function openPage(url: string) {
    const page = await newPage()
    await page.goto(url)
    const said = page.locator('#said')
    await said.filter({ hasText: 'ready' }).waitFor()
    const pay = async () => {
      await page.getByRole('button', { name: 'Pay' }).click()
      await said.filter({ hasNotText: 'ready' }).waitFor()
      return (await said.textContent()) ?? ''
    }
    return { page, pay }
  }

  it('drop-in takes a card, whose nonce the server can keep', async () => {
    const { gateway, url } = await openShop({ script: DROP_IN })
    const { page, pay } = await openPage(url)
    await page.getByLabel('Card Number').fill('4111 1111 1111 1111')
    await page.getByLabel('Expiration Date').fill('12/30')
    await expectAccessible(page)
    const paymentMethodNonce = (await pay()).replace('nonce ', '')
    const { customer } = await gateway.customer.create({ paymentMethodNonce })
    expect(customer.creditCards).toMatchObject([{ last4: '1111', expirationDate: '12/2030' }])
  })

  it('drop-in offers what the customer has, and gives a nonce for it', async () => {
    const { gateway, sandbox, url } = await openShop({ script: DROP_IN, customerId: 'ada' })
    const { page, pay } = await openPage(url)
    expect(await page.getByLabel('American Express').isChecked()).toBe(true)
    const paymentMethodNonce = (await pay()).replace('nonce ', '')
    const sold = await gateway.transaction.sale({ amount: '5.00', paymentMethodNonce })
    expect(sold.transaction.creditCard?.token).toBe(
      sandbox.braintree.paymentMethods('ada')[0]?.token,
    )
  })

  it('hosted fields take a card, and say when it is none', async () => {
    const { gateway, url } = await openShop({ script: HOSTED_FIELDS })
    const { page, pay } = await openPage(url)
    expect(await pay()).toBe('HOSTED_FIELDS_FIELDS_EMPTY')
    await page.getByLabel('Card Number').fill('4111111111111112')
    await page.getByLabel('Expiration Date').fill('12/2030')
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByText('HOSTED_FIELDS_FIELDS_INVALID').waitFor()
    await page.getByLabel('Card Number').fill('4111111111111111')
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByText('nonce').waitFor()
    const paymentMethodNonce =
      (await page.locator('#said').textContent())?.replace('nonce ', '') ?? ''
    expect((await gateway.customer.create({ paymentMethodNonce })).success).toBe(true)
  })

  it('drop-in in the page of the guide takes a declined card, then one that pays', async () => {
    const { user, url } = await openPayPage()
    const page = await newPage()
    forgive(page, /422|favicon/)
    await page.goto(url)
    const subscribe = async (number: string) => {
      await page.getByLabel('Card Number').fill(number)
      await page.getByLabel('Expiration Date').fill('12/30')
      await page.getByRole('button', { name: 'Subscribe' }).click()
    }
    await subscribe('4000111111111115')
    await page.getByText('The card was declined').waitFor()
    expect(await user.subscribed('main')).toBe(false)
    await subscribe('4111111111111111')
    await page.getByText('Your account').waitFor()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('hosted fields tell of what happens to them', async () => {
    const { url } = await openShop({ script: EVERY_FIELD })
    const { page } = await openPage(url)
    const heard = () => page.evaluate('heard.splice(0)')
    const state = (name: string) => page.evaluate(`hosted.getState().fields.${name}`)
    const number = page.getByLabel('Card Number')
    expect(await state('number')).toMatchObject({
      isEmpty: true,
      isValid: false,
      isPotentiallyValid: true,
      isFocused: false,
    })
    await number.pressSequentially('4')
    expect(await heard()).toEqual(['focus number', 'notEmpty number', 'cardTypeChange number'])
    await number.pressSequentially('111 1111 1111 1111')
    expect(await heard()).toEqual(['validityChange number'])
    expect(await page.evaluate('hosted.getState().cards')).toEqual([
      { type: 'visa', niceType: 'Visa', code: { name: 'CVV', size: 3 } },
    ])
    expect(await state('number')).toMatchObject({ isEmpty: false, isValid: true, isFocused: true })
    expect(await page.locator('#number').getAttribute('class')).toContain('fields-valid')
    await number.press('Enter')
    expect(await heard()).toEqual(['inputSubmitRequest number'])
    await page.getByLabel('Expiration Month').fill('13')
    expect(await heard()).toEqual([
      'blur number',
      'focus expirationMonth',
      'notEmpty expirationMonth',
      'validityChange expirationMonth',
    ])
    await page.evaluate('for (const [type, listener] of listeners) hosted.off(type, listener)')
    await number.fill('')
    expect(await heard()).toEqual([])
  })

  it('hosted fields take month and year apart, and what the page knows itself', async () => {
    const { gateway, url } = await openShop({ script: EVERY_FIELD })
    const { page, pay } = await openPage(url)
    await page.getByLabel('Card Number').fill('378282246310005')
    await page.getByLabel('Expiration Month').fill('12')
    await page.getByLabel('CVV').fill('123')
    expect(await pay()).toBe('HOSTED_FIELDS_FIELDS_INVALID expirationYear,cvv')
    await page.getByLabel('Expiration Year').fill('2030')
    await page.getByLabel('CVV').fill('1234')
    await page.evaluate('given = { authenticationInsight: {} }')
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByText('does not imitate authenticationInsight of tokenize()').waitFor()
    await page.evaluate(
      `given = { cardholderName: 'Ada Lovelace', billingAddress: { postalCode: '94107' } }`,
    )
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.locator('#said').filter({ hasText: 'nonce' }).waitFor()
    const paymentMethodNonce =
      (await page.locator('#said').textContent())?.replace('nonce ', '') ?? ''
    const { customer } = await gateway.customer.create({ paymentMethodNonce })
    expect(customer.creditCards).toMatchObject([
      {
        expirationDate: '12/2030',
        cardholderName: 'Ada Lovelace',
        billingAddress: { postalCode: '94107' },
      },
    ])
    const refused = page.evaluate('hosted.getChallenges()')
    await expect(refused).rejects.toThrow('does not imitate hostedFields.getChallenges()')
  })

  it('hosted fields keep a card for the customer where they are told to, if the bank lets them', async () => {
    const shop = await openShop({ script: EVERY_FIELD, customerId: 'ada', verifyCard: true })
    const { page, pay } = await openPage(shop.url)
    const cards = () => shop.sandbox.braintree.paymentMethods('ada').length
    await page.getByLabel('Card Number').fill('4111111111111111')
    await page.getByLabel('Expiration Month').fill('12')
    await page.getByLabel('Expiration Year').fill('30')
    await page.getByLabel('CVV').fill('123')
    expect([await pay(), cards()]).toEqual([expect.stringContaining('nonce'), 1])
    await page.evaluate(`given = { vault: true }; said('again')`)
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.locator('#said').filter({ hasText: 'nonce' }).waitFor()
    expect(cards()).toBe(2)
    await page.getByLabel('Card Number').fill('4000111111111115')
    forgive(page, /422/)
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.locator('#said').filter({ hasText: 'HOSTED_FIELDS_FAILED_TOKENIZATION' }).waitFor()
    expect(cards()).toBe(2)
  })

  it('drop-in tells whether it could pay, as long as somebody listens', async () => {
    const script = `braintree.dropin.create({ authorization, container: '#container' }).then((dropin) => {
      window.heard = []
      const yes = ({ type, paymentMethodIsSelected }) => heard.push(type + ' ' + paymentMethodIsSelected)
      dropin.on('paymentMethodRequestable', yes)
      dropin.on('noPaymentMethodRequestable', () => heard.push('none'))
      window.stop = () => dropin.off('paymentMethodRequestable', yes)
      window.dropin = dropin
      said('ready')
    })`
    const { url } = await openShop({ script })
    const { page } = await openPage(url)
    const heard = () => page.evaluate('heard.splice(0)')
    const number = page.getByLabel('Card Number')
    await number.fill('4111111111111111')
    expect(await heard()).toEqual(['CreditCard false'])
    await page.evaluate('dropin.clearSelectedPaymentMethod()')
    expect(await heard()).toEqual(['none'])
    await page.evaluate('stop()')
    await number.fill('4111111111111111')
    expect(await heard()).toEqual([])
    const refused = page.evaluate('dropin.updateConfiguration()')
    await expect(refused).rejects.toThrow('does not imitate dropin.updateConfiguration()')
  })
})
