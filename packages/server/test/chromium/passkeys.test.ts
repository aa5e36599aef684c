import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium, takeScreenshot } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { signedIn, signIn } from './person.ts'

describeInChromium('passkeys in a browser', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  /** Gives the page an authenticator that confirms everything, or that does not know the person. */
  async function addAuthenticator(page: Page) {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return {
      verify: (isUserVerified: boolean) =>
        devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    }
  }

  it('are added, then accepted after the password or instead of it, and refused if they were copied', async () => {
    const account = { name: 'Grace', email: 'grace@example.com', password: 'a long password' }
    const page = await newPage({ cookies: await signedIn(service, account) })
    forgive(page, /status of 401/)
    const authenticator = await addAuthenticator(page)
    await page.goto(`${service.url}/account/security`)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name').fill('Laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Create new recovery codes' }).click()
    await page.getByRole('heading', { name: 'Save these recovery codes' }).waitFor()
    await takeScreenshot(page, 'recovery-codes')
    await page.getByRole('link', { name: 'I have saved the codes' }).click()
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
    // The browser refuses a second passkey for the account on the same authenticator.
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('This device already has a passkey').waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, service, account)
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await authenticator.verify(false)
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.getByText('The passkey was not used.').waitFor()
    await authenticator.verify(true)
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    const kysely = service.database.kysely as never as import('kysely').Kysely<
      Record<'passkeys', { counter: number }>
    >
    await kysely.updateTable('passkeys').set({ counter: 1000 }).execute()
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await page.getByText('may have copied this passkey').waitFor()
  })

  it('are not given to another origin by the browser', async () => {
    const page = await newPage()
    forgive(page, /favicon/)
    await addAuthenticator(page)
    await page.goto(`${service.url.replace('localhost', '127.0.0.1')}/healthz`)
    const refusal = await page.evaluate(async () => {
      const publicKey = { rpId: 'localhost', challenge: new Uint8Array(32) }
      return navigator.credentials.get({ publicKey }).then(
        () => 'given',
        (error) => error.name,
      )
    })
    expect(refusal).toBe('SecurityError')
  })

  it('need JavaScript, and the page says so', async () => {
    const page = await newPage({ script: false })
    await page.goto(`${service.url}/login`)
    await page.getByText('Passkeys need JavaScript').waitFor()
    expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
  })
})
