import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  clickToClose,
  describeInChromium,
  expectAccessible,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

const GOOD = '4111 1111 1111 1111'
const DECLINED = '4000111111111115'
const ASKS = '4000000000002503'
const REFUSED_BY_BANK = '4000000000002925'
const SETTINGS = { threeDSecure: true, paypal: true, challenges: [] as never[] }

let people = 0

/**
 * The card form of the billing page at Braintree: hosted fields, 3-D Secure and PayPal (threat N3).
 */
describeInChromium('a card typed in at Braintree', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  beforeEach(() => braintree().changeSettings(SETTINGS))
  afterAll(() => service?.stop())

  const braintree = () => {
    if (!service.sandbox) throw new Error('The demo has a sandbox')
    return service.sandbox.braintree
  }

  async function enter(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = `braintree-${++people}@example.com`
    const account = { name: 'Ada Lovelace', email, password: 'a long password' }
    return newPage({ ...settings, cookies: await signedIn(service, account) })
  }
  async function open(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const page = await enter(settings)
    await page.goto(`${service.url}/billing?provider=braintree`)
    await openForm(page)
    return page
  }
  async function openForm(page: Page): Promise<void> {
    await page.getByRole('radio', { name: /^Pro / }).check()
    await page.getByText('Enter a card, or use PayPal').click()
    await fieldsAreReady(page)
  }
  /** Waits for all frames, because the fields accept no input before. */
  async function fieldsAreReady(page: Page): Promise<void> {
    await field(page, 'Card number').waitFor()
    await page.locator('.card-entry[open] [data-fields]:not([inert])').waitFor()
  }
  const field = (page: Page, label: string) =>
    page.frameLocator(`iframe[title^="${label}"]`).getByRole('textbox', { name: label })
  /** Whether the keys reach this field: its frame has the focus, and the field has it in there. */
  const isFocused = (page: Page, label = 'Card number') =>
    field(page, label).evaluate((input) => document.hasFocus() && input.matches(':focus'))
  async function type(page: Page, number: string): Promise<void> {
    await field(page, 'Card number').fill(number)
    await field(page, 'Expiry date').fill('12/40')
    await field(page, 'Security code').fill('123')
  }
  const subscribe = (page: Page) =>
    page.getByRole('button', { name: /and subscribe$|^Start/ }).click()
  const told = (page: Page, text: string | RegExp) =>
    page.getByRole('alert').filter({ hasText: text }).waitFor()
  const isSubscribed = (page: Page) =>
    page.getByRole('status').filter({ hasText: 'You are subscribed.' }).waitFor()
  /** Pays with another card after a failure. */
  async function goOn(page: Page): Promise<void> {
    if ((await page.locator('details[open].card-entry').count()) === 0) await openForm(page)
    await type(page, GOOD)
    await subscribe(page)
    await isSubscribed(page)
    await page.getByText('Visa ending in 1111').first().waitFor()
  }
  const bank = (page: Page) => page.frameLocator('#Cardinal-CCA-IFrame')
  async function openPayPal(page: Page): Promise<Page> {
    const button = page
      .frameLocator('iframe[title="PayPal"]')
      .getByRole('button', { name: 'PayPal' })
    const [popup] = await Promise.all([page.waitForEvent('popup'), button.click()])
    await popup.waitForURL(/ba_token=BA-/)
    return popup
  }

  it.each(['light', 'dark'] as const)(
    'pays for a subscription, and has no visual problems in the %s color scheme',
    async (scheme) => {
      const page = await open({ scheme })
      await page.frameLocator('iframe[title="PayPal"]').getByRole('button').waitFor()
      await type(page, GOOD)
      for (const width of [320, 768, 1280, 1600]) {
        await page.setViewportSize({ width, height: 800 })
        await expectNoSidewaysScroll(page)
        // Frames outside of the window are not rendered.
        await page.getByRole('button', { name: 'Subscribe' }).scrollIntoViewIfNeeded()
        await takeScreenshot(page, `billing-braintree-${scheme}-${width}`)
      }
      await expectAccessible(page)
      // The text in the frames must be as light or dark as the page's own.
      const colours = [
        await field(page, 'Card number').evaluate((input) => getComputedStyle(input).color),
        await page.locator('body').evaluate((body) => getComputedStyle(body).color),
      ]
      expect(colours[0]).toBe(colours[1])
      await subscribe(page)
      await isSubscribed(page)
    },
  )

  it("follows the browser's color scheme when it changes", async () => {
    const page = await open({ scheme: 'light' })
    const colour = () =>
      field(page, 'Card number').evaluate((input) => getComputedStyle(input).color)
    const before = await colour()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(colour).not.toBe(before)
  })

  it('can be filled in and sent using only the keyboard', async () => {
    const page = await open()
    await fillInByKeyboard(page)
    await isSubscribed(page)
  })

  it('ignores the keyboard until its last frame has loaded, because the Enter key would have no effect', async () => {
    const page = await enter()
    const held: Route[] = []
    let frames = 0
    await page.route('**/hosted-fields-frame*', async (route) => {
      if (++frames === 1) await route.continue()
      else held.push(route)
    })
    await page.goto(`${service.url}/billing?provider=braintree`)
    await page.getByText('Enter a card, or use PayPal').click()
    await field(page, 'Card number').waitFor()
    await page.getByText('Card number', { exact: true }).click({ force: true })
    await page.keyboard.type('4')
    expect(await field(page, 'Card number').inputValue()).toBe('')
    await expect.poll(() => held.length).toBe(2)
    for (const route of held) await route.continue()
    await fieldsAreReady(page)
    await fillInByKeyboard(page)
    await isSubscribed(page)
  })

  /**
   * Types as a person does who looks at the page: the fields are in frames of another origin, and
   * the browser moves the focus between processes some time after Tab.
   */
  async function fillInByKeyboard(page: Page): Promise<void> {
    await page.getByText('Card number', { exact: true }).click()
    await typeInto(page, 'Card number', '4111111111111111')
    await page.keyboard.press('Tab')
    await typeInto(page, 'Expiry date', '1240')
    await page.keyboard.press('Tab')
    await typeInto(page, 'Security code', '123')
    await page.keyboard.press('Enter')
  }
  async function typeInto(page: Page, label: string, keys: string): Promise<void> {
    await expect.poll(() => isFocused(page, label)).toBe(true)
    await page.keyboard.type(keys)
    const digits = async () => (await field(page, label).inputValue()).replace(/\D/g, '')
    await expect.poll(digits).toBe(keys)
  }

  it('marks empty and invalid fields accessibly, and works after they are corrected', async () => {
    const page = await open()
    const number = field(page, 'Card number')
    await subscribe(page)
    await told(page, 'Please enter your card.')
    await expect.poll(() => isFocused(page)).toBe(true)
    await type(page, '4111111111111112')
    await field(page, 'Security code').fill('1')
    await subscribe(page)
    await told(page, 'Please check: Card number, Security code.')
    await takeScreenshot(page, 'billing-braintree-wrong')
    await expect.poll(() => number.getAttribute('aria-invalid')).toBe('true')
    await page
      .frameLocator('iframe[title^="Card number"]')
      .getByText('Please check: Card number.')
      .waitFor({ state: 'attached' })
    await number.fill('4111111111111111')
    await expect.poll(() => number.getAttribute('aria-invalid')).toBe('false')
    await goOn(page)
  })

  it('can be replaced after it was declined', async () => {
    const page = await open()
    forgive(page, /status of 4(?:02|22)/)
    await type(page, DECLINED)
    await subscribe(page)
    await told(page, /declined.*another card/)
    await goOn(page)
  })

  it('can be replaced after Braintree rejected it', async () => {
    const page = await open()
    forgive(page, /422/)
    // A number with a valid checksum that the sandbox does not know.
    await type(page, '4539578763621486')
    await subscribe(page)
    await told(page, 'This card was not accepted.')
    await goOn(page)
  })

  it('lets the bank ask for confirmation on the page, and is stored with the result', async () => {
    const page = await open()
    await type(page, ASKS)
    await subscribe(page)
    await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-braintree-bank-asks')
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    await isSubscribed(page)
    const email = `braintree-${people}@example.com`
    const customer = braintree()
      .customers()
      .find((each) => each.email === email)
    const [method] = braintree().paymentMethods(customer?.id ?? '')
    expect(method?.verifications[0]?.threeDSecure).toMatchObject({
      status: 'authenticate_successful',
      liabilityShifted: true,
    })
  })

  it.each([
    [
      'fails',
      /did not confirm/,
      (page: Page) => bank(page).getByRole('button', { name: 'Fail' }).click(),
    ],
    [
      'is closed',
      /You closed/,
      (page: Page) => page.getByRole('button', { name: 'Cancel', exact: true }).click(),
    ],
  ])(
    "is not charged if the bank's confirmation %s, and can be replaced by another card",
    async (_, words, answer) => {
      const page = await open()
      await type(page, ASKS)
      await subscribe(page)
      await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
      await answer(page)
      await told(page, words)
      await goOn(page)
    },
  )

  it('is not charged if the bank rejects it without asking for confirmation, and can be replaced', async () => {
    const page = await open()
    await type(page, REFUSED_BY_BANK)
    await subscribe(page)
    await told(page, /did not confirm.*Nothing was charged/)
    await goOn(page)
  })

  it('can be replaced after the bank could not be reached, which the page says', async () => {
    const page = await open()
    forgive(page, /ERR_FAILED/)
    await page.route('**/three_d_secure/lookup', (route) => route.abort())
    await type(page, GOOD)
    await subscribe(page)
    await told(page, 'Your bank could not be reached.')
    await page.unrouteAll()
    await goOn(page)
  })

  it('can be used without 3-D Secure and PayPal if the Braintree account has neither, and the form asks for the security code and postal code if the account checks them', async () => {
    braintree().changeSettings({ threeDSecure: false, paypal: false, challenges: ['postal_code'] })
    const page = await open()
    expect(await page.getByText('Or pay with PayPal').isVisible()).toBe(false)
    await type(page, ASKS)
    await subscribe(page)
    await told(page, 'Please check: Postal code.')
    await field(page, 'Postal code').fill('94107')
    await subscribe(page)
    await isSubscribed(page)
  })

  it('is not needed to pay with PayPal', async () => {
    const page = await open()
    const popup = await openPayPal(page)
    await clickToClose(popup, popup.getByRole('button', { name: 'Agree and Continue' }))
    await isSubscribed(page)
    await page
      .getByText(/PayPal/)
      .first()
      .waitFor()
  })

  it('can be entered, or PayPal can be opened again, after the PayPal window was closed', async () => {
    const page = await open()
    await (await openPayPal(page)).close()
    await told(page, 'You closed PayPal before you agreed to the payment.')
    const popup = await openPayPal(page)
    await clickToClose(popup, popup.getByRole('button', { name: 'Cancel' }))
    await told(page, 'You closed PayPal before you agreed to the payment.')
    await goOn(page)
  })

  it('can be entered if PayPal is unavailable, which the page says', async () => {
    const page = await open()
    forgive(page, /ERR_FAILED/)
    await page.route('**/paypal_hermes/**', (route) => route.abort())
    await page.frameLocator('iframe[title="PayPal"]').getByRole('button').click()
    await told(page, 'PayPal could not be used.')
    await goOn(page)
  })

  it("can be entered if PayPal's script does not load", async () => {
    const page = await enter()
    forgive(page, /ERR_FAILED/)
    await page.route('**/paypal/sdk/**', (route) => route.abort())
    await page.goto(`${service.url}/billing?provider=braintree`)
    await openForm(page)
    expect(await page.getByText('Or pay with PayPal').isVisible()).toBe(false)
    await goOn(page)
  })

  it.each(['client', 'hosted-fields', 'three-d-secure'])(
    'cannot be entered if the script %s did not load, but a message says so and a test card from the list still works',
    async (name) => {
      const page = await enter()
      forgive(page, /ERR_FAILED/)
      await page.route(`**/${name}.min.js`, (route) => route.abort())
      await page.goto(`${service.url}/billing?provider=braintree`)
      await page.getByText('Enter a card, or use PayPal').click()
      await told(page, 'The payment provider’s script did not load.')
      await subscribe(page)
      await told(page, 'The payment provider’s script did not load.')
      await page.getByText('Enter a card, or use PayPal').click()
      await subscribe(page)
      await isSubscribed(page)
    },
  )

  it('is entered in a form that is loaded again when its client token has expired', async () => {
    const page = await open()
    forgive(page, /401/)
    await type(page, GOOD)
    await service.advance({ days: 2 })
    await subscribe(page)
    await told(page, 'The card form was open for too long')
    await fieldsAreReady(page)
    expect(await field(page, 'Card number').inputValue()).toBe('')
    await goOn(page)
  })

  it('is entered in a form that is loaded again after an error', async () => {
    const page = await enter()
    forgive(page, /503|ERR_FAILED/)
    await page.route('**/api/billing/client-token', (route) => route.fulfill({ status: 503 }))
    await page.goto(`${service.url}/billing?provider=braintree`)
    await page.getByText('Enter a card, or use PayPal').click()
    await told(page, 'Cards cannot be entered at the moment.')
    await page.unrouteAll()
    await subscribe(page)
    await told(page, 'Please enter your card.')
    await goOn(page)
  })

  it('can be added later, and so can a PayPal account', async () => {
    const page = await open()
    await goOn(page)
    await page.getByText('Add a card', { exact: true }).click()
    await page.getByText('Enter a card, or use PayPal').click()
    await fieldsAreReady(page)
    await page.getByLabel('Save the card for later').check()
    await type(page, '5555555555554444')
    await page.getByRole('button', { name: 'Use this card' }).click()
    await page
      .getByText(/Mastercard.*4444/i)
      .first()
      .waitFor()
    await page.getByText('Add a card', { exact: true }).click()
    await page.getByText('Enter a card, or use PayPal').click()
    const popup = await openPayPal(page)
    await clickToClose(popup, popup.getByRole('button', { name: 'Agree and Continue' }))
    await page
      .getByText(/PayPal/)
      .first()
      .waitFor()
  })

  it('is not asked for in a browser without JavaScript', async () => {
    const page = await enter({ script: false })
    await page.goto(`${service.url}/billing?provider=braintree`)
    expect(await page.getByText('Enter a card, or use PayPal').isVisible()).toBe(false)
    await page.getByLabel('Test card').waitFor()
  })
})
