import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { de } from '../../src/messages/de.ts'
import { en } from '../../src/messages/en.ts'
import { startTestService, type TestService } from '../support.ts'
import { type EveryPage, everyPage, type PageTour } from './every-page.ts'

/** WCAG 1.4.10 requires 320 pixels: a window of 1280 at 400 %. */
const CARD = {
  'cc-number': '4242 4242 4242 4242',
  'cc-exp': '12 / 34',
  'cc-csc': '1234',
  'postal-code': '12345-6789',
}

const WIDTHS = [320, 768, 1280, 1600]

describeInChromium('every page in every state', ({ newPage, forgive }) => {
  let service: TestService
  let walk: PageTour
  beforeAll(async () => {
    const google = { clientId: 'google', clientSecret: 'secret' }
    service = await startTestService({
      settings: { teams: true, signInWith: { google } },
      options: { mailbox: true },
    })
    walk = await everyPage(service)
  })
  afterAll(() => service?.stop())

  /** Calls `look` on each page, in a tab of the person it is for. */
  async function forEach(
    settings: Parameters<typeof newPage>[0],
    look: (page: Page, each: EveryPage) => Promise<void>,
  ): Promise<void> {
    const tabs = new Map<EveryPage['by'], Page>()
    for (const each of walk.pages) {
      let tab = tabs.get(each.by)
      if (!tab) {
        tab = await newPage({
          ...settings,
          cookies: { url: service.url, values: walk.cookies[each.by] },
        })
        forgive(tab, /status of 40[04]/)
        tabs.set(each.by, tab)
      }
      const response = await tab.goto(service.url + each.path)
      expect([each.name, response?.status()]).toEqual([each.name, each.status ?? 200])
      expect(new URL(tab.url()).pathname, each.name).toBe(new URL(each.path, service.url).pathname)
      await look(tab, each)
    }
  }

  it.each([
    ['en', WIDTHS],
    ['de', [320, 1280]],
  ] as const)(
    'is no wider than its window, and clips no field, in the language %s at the widths %j',
    async (language, widths) => {
      const problems: string[] = []
      await forEach({ language }, async (page, { name }) => {
        await openEverything(page)
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          await takeScreenshot(page, `${name}-${language}-${width}`)
          for (const problem of await findSettledWideElements(page))
            problems.push(`${name} at ${width}: ${problem}`)
        }
        const html = page.locator('html')
        expect([name, await html.getAttribute('lang')]).toEqual([name, language])
        if (language === 'de') {
          for (const text of await untranslated(page)) problems.push(`${name}: ${text}`)
        }
      })
      expect(problems).toEqual([])
    },
  )

  it('shows no disabled controls without JavaScript, and puts the safe button first in every form', async () => {
    const dead: string[] = []
    const harmful: string[] = []
    const asked: string[] = []
    await forEach({ script: false }, async (page, { name }) => {
      for (const button of await page.locator('button, [role="button"]').all()) {
        if (!(await button.isVisible())) continue
        // A form that only a script sends has no method.
        const works = await button.evaluate((each) => {
          const method = each.closest('form')?.getAttribute('method')
          return each.getAttribute('type') !== 'button' && method === 'post'
        })
        if (!works) dead.push(`${name}: ${await button.textContent()}`)
      }
      for (const { action, isFirst, isAsked } of await listDangerousForms(page)) {
        if (isFirst) harmful.push(`${name}: ${action}`)
        if (isAsked) asked.push(`${name}: ${action?.replace(/\/teams\/\w+\//, '/teams/…/')}`)
      }
    })
    expect(dead).toEqual([])
    // Enter presses the first button of a form.
    expect(harmful).toEqual([])
    // Only confirmation pages have a button that ends something permanently.
    expect(asked).toEqual([
      'session-end: /account/sessions/end',
      'sessions-end-others: /account/sessions/end-others',
      'account-delete: /account/delete',
      'application-revoke: /applications/revoke',
      'operator-sign-out: /admin/people/2/sign-out',
      'operator-reset-factors: /admin/people/2/reset-factors',
      'operator-disable: /admin/people/2/disable',
      'operator-delete: /admin/people/2/delete',
      'billing-cancel: /billing/cancel-now',
      'billing-card-delete: /billing/card/delete',
      'team-leave: /teams/…/leave',
      'team-delete: /teams/…/delete',
    ])
  })

  it('shows controls that need JavaScript once the script has loaded', async () => {
    const page = await newPage({ cookies: { url: service.url, values: walk.cookies.operator } })
    await page.goto(`${service.url}/clients`)
    await page.getByRole('button', { name: 'New client' }).waitFor()
    expect(await page.getByRole('button', { name: /^Copy the client ID/ }).count()).toBeGreaterThan(
      1,
    )
  })

  it('lets an operator find, disable and enable an account with the keyboard alone', async () => {
    const page = await newPage({ cookies: { url: service.url, values: walk.cookies.operator } })
    const email = 'newcomer-with-a-long-address@example.com'
    const press = async (role: 'link' | 'button' | 'radio', name: string) => {
      await page.getByRole(role, { name, exact: true }).focus()
      await page.keyboard.press('Enter')
    }
    await page.goto(`${service.url}/admin`)
    await page.getByLabel('Email, ID, customer ID').focus()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: email }).waitFor()
    expect(await service.users.findByEmail(email)).not.toBeNull()
    await press('link', 'Disable')
    await press('button', 'Change nothing')
    await page.getByText('May sign in').waitFor()
    await press('link', 'Disable')
    await press('button', 'Disable the account')
    await page.getByRole('status').filter({ hasText: 'is disabled' }).waitFor()
    expect(await service.users.findByEmail(email)).toBeNull()
    await press('button', 'Enable')
    await page.getByRole('status').filter({ hasText: 'may sign in again' }).waitFor()
  })

  it.each(['operator-account', 'operator-disable', 'operator-delete', 'session-end'])(
    'is accessible: %s',
    async (wanted) => {
      const each = walk.pages.find(({ name }) => name === wanted)
      const cookies = { url: service.url, values: walk.cookies.operator }
      const page = await newPage({ cookies })
      await page.goto(service.url + each?.path)
      await expectAccessible(page)
    },
  )
})

const GERMAN: ReadonlySet<string> = new Set(Object.values(de))
/** English texts that are no German texts, too. */
const ENGLISH_ONLY: ReadonlySet<string> = new Set(
  // A word may be the German text of another message, such as a role.
  Object.values(en).filter((text) => !GERMAN.has(text)),
)

/** The texts of a German page that are in English, whole texts as well as names of elements. */
async function untranslated(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) found.push(walker.currentNode.textContent?.trim() ?? '')
    for (const element of document.querySelectorAll('[aria-label]'))
      found.push(element.getAttribute('aria-label') ?? '')
    return found
  })
  return texts.filter((text) => ENGLISH_ONLY.has(text))
}

/** Unfolds everything, and fills in the fields that a provider's script puts into the page. */
async function openEverything(page: Page): Promise<void> {
  const folded = page.locator('main details:not([open]) > summary')
  for (let count = await folded.count(); count > 0; count = await folded.count()) {
    await folded.first().click()
  }
  // A provider's script adds its fields there.
  await page.waitForFunction(() => {
    const places = document.querySelectorAll('[data-card-entry] [data-mount]')
    return [...places].every((place) => place.childElementCount > 0)
  })
  // A provider's frame gets its height only while its tab is in front.
  await page.bringToFront()
  // A card number has to be visible completely while it is typed. A script may replace its frame, so
  // each is looked up anew.
  for (const element of await page.locator('[data-card-entry] iframe').all()) {
    const frame = element.contentFrame()
    await frame.locator('input').first().waitFor()
    for (const [name, value] of Object.entries(CARD)) {
      const field = frame.locator(`input[data-field="${name}"]`)
      if ((await field.count()) > 0) await field.fill(value)
    }
  }
}

/** The forms of a page that end something permanently, and whether Enter would submit them so. */
function listDangerousForms(page: Page) {
  return page.locator('form[method="post"]').evaluateAll((all) =>
    all.map((form) => {
      const buttons = [...form.querySelectorAll('button')].filter(({ type }) => type === 'submit')
      const isDangerous = (button: Element | undefined) =>
        button?.matches('.danger, .danger-quiet') ?? false
      // A required checkbox prevents Enter from submitting the form.
      const isGuarded = form.querySelector('input[type="checkbox"][required]') !== null
      return {
        action: form.getAttribute('action'),
        isFirst: isDangerous(buttons[0]) && !isGuarded,
        isAsked: buttons.some(isDangerous),
      }
    }),
  )
}

/**
 * A provider's frame takes a moment to grow to the height of its fields, and does so only while
 * visible.
 */
async function findSettledWideElements(page: Page): Promise<string[]> {
  for (const frame of await page.locator('iframe').all()) await frame.scrollIntoViewIfNeeded()
  let problems = await findWideElements(page)
  for (let looks = 0; problems.length > 0 && looks < 10; looks++) {
    await page.waitForTimeout(100)
    problems = await findWideElements(page)
  }
  return problems
}

/** Elements that are wider than their space, in the page and its frames. */
async function findWideElements(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const frame of page.frames()) {
    await frame.waitForLoadState()
    const here = await frame.evaluate(() => {
      const describe = (element: Element) =>
        `${element.tagName.toLowerCase()} ${element.getAttribute('name') ?? element.id}`
      const wide = (element: Element) => element.scrollWidth > element.clientWidth + 1
      const isSeen = (element: Element) =>
        element.checkVisibility({ visibilityProperty: true }) && element.clientWidth > 0
      const root = document.documentElement
      const clipped = [...document.querySelectorAll('input, select, textarea, iframe')]
        .filter(isSeen)
        .filter((element) => {
          const { left, right } = element.getBoundingClientRect()
          const isOutside = left < -1 || right > root.clientWidth + 1
          const isText = element.matches('input:not([type="checkbox"], [type="radio"])')
          // A person can read only the placeholder of an empty field.
          // No field has room for a name of a hundred letters.
          const isEndless = element instanceof HTMLInputElement && element.value.length > 60
          return isOutside || (isText && !isEndless && wide(element))
        })
      return [
        ...(root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} pixels wide`] : []),
        ...(window.parent !== window && root.scrollHeight > root.clientHeight
          ? [`${root.scrollHeight} of ${root.clientHeight} pixels high`]
          : []),
        ...clipped.map((element) => `${describe(element)} is clipped`),
      ]
    })
    found.push(...here.map((problem) => (frame.parentFrame() ? `in a frame: ${problem}` : problem)))
  }
  return found
}
