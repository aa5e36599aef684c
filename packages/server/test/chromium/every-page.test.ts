import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { type EveryPage, everyPage, type Walk } from './every-page.ts'

/** 320 pixels are a window of 1280 at 400 %, which WCAG 1.4.10 asks for. */
const CARD = {
  'cc-number': '4242 4242 4242 4242',
  'cc-exp': '12 / 34',
  'cc-csc': '1234',
  'postal-code': '12345-6789',
}

const WIDTHS = [320, 768, 1280, 1600]

describeInChromium('every page', ({ newPage, forgive }) => {
  let service: TestService
  let walk: Walk
  beforeAll(async () => {
    service = await startTestService()
    walk = await everyPage(service)
  })
  afterAll(() => service?.stop())

  /** Calls `look` on each page, in the tab of the person it is for. */
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

  it('is no wider than its window, and clips no field, at any of four widths', async () => {
    const problems: string[] = []
    await forEach({}, async (page, { name }) => {
      await openEverything(page)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        await takeScreenshot(page, `${name}-${width}`)
        for (const problem of await settled(page)) problems.push(`${name} at ${width}: ${problem}`)
      }
    })
    expect(problems).toEqual([])
  })

  it('shows no dead button without a script, and a harmless button first in every form', async () => {
    const dead: string[] = []
    const harmful: string[] = []
    const asked: string[] = []
    await forEach({ script: false }, async (page, { name }) => {
      for (const button of await page.locator('button, [role="button"]').all()) {
        if (!(await button.isVisible())) continue
        // A form that is sent by script alone has no method.
        const works = await button.evaluate((each) => {
          const method = each.closest('form')?.getAttribute('method')
          return each.getAttribute('type') !== 'button' && method === 'post'
        })
        if (!works) dead.push(`${name}: ${await button.textContent()}`)
      }
      for (const { action, isFirst, isAsked } of await dangersOf(page)) {
        if (isFirst) harmful.push(`${name}: ${action}`)
        if (isAsked) asked.push(`${name}: ${action}`)
      }
    })
    expect(dead).toEqual([])
    // Enter presses the first button of a form.
    expect(harmful).toEqual([])
    // Only pages that ask have a button that ends something for good.
    expect(asked).toEqual([
      'session-end: /account/sessions/end',
      'sessions-end-others: /account/sessions/end-others',
      'application-revoke: /applications/revoke',
      'operator-disable: /overview/users/disable',
      'operator-delete: /overview/users/delete',
      'billing-cancel: /billing/cancel-now',
      'billing-card-delete: /billing/card/delete',
    ])
  })

  it('shows with a script what only a script can do', async () => {
    const page = await newPage({ cookies: { url: service.url, values: walk.cookies.operator } })
    await page.goto(`${service.url}/clients`)
    await page.getByRole('button', { name: 'New client' }).waitFor()
    expect(await page.getByRole('button', { name: /^Copy the ID/ }).count()).toBeGreaterThan(1)
  })

  it('lets an operator look up, disable and enable an account with the keyboard alone', async () => {
    const page = await newPage({ cookies: { url: service.url, values: walk.cookies.operator } })
    const email = 'newcomer-with-a-long-address@example.com'
    const press = async (role: 'link' | 'button' | 'radio', name: string) => {
      await page.getByRole(role, { name }).focus()
      await page.keyboard.press('Enter')
    }
    await page.goto(`${service.url}/overview`)
    await page.getByLabel('Id or e-mail address').focus()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: email }).waitFor()
    expect(await service.users.findByEmail(email)).not.toBeNull()
    await press('link', 'Disable')
    await press('button', 'Leave it as it is')
    await page.getByText('May sign in').waitFor()
    await press('link', 'Disable')
    await press('button', 'Disable the account')
    await page.getByRole('status').filter({ hasText: 'is disabled' }).waitFor()
    expect(await service.users.findByEmail(email)).toBeNull()
    await press('button', 'Enable')
    await page.getByRole('status').filter({ hasText: 'may sign in again' }).waitFor()
  })

  it.each(['operator-account', 'operator-disable', 'operator-delete', 'session-end'])(
    '%s is accessible',
    async (wanted) => {
      const each = walk.pages.find(({ name }) => name === wanted)
      const cookies = { url: service.url, values: walk.cookies.operator }
      const page = await newPage({ cookies })
      await page.goto(service.url + each?.path)
      await expectAccessible(page)
    },
  )
})

/** Unfolds everything, and fills in the fields that a provider's script puts into the page. */
async function openEverything(page: Page): Promise<void> {
  const folded = page.locator('main details:not([open]) > summary')
  for (let count = await folded.count(); count > 0; count = await folded.count()) {
    await folded.first().click()
  }
  // A provider's script puts its fields there.
  await page.waitForFunction(() => {
    const places = document.querySelectorAll('[data-card-entry] [data-mount]')
    return [...places].every((place) => place.childElementCount > 0)
  })
  // A whole card has to be seen while it is typed.
  for (const frame of page.frames().slice(1)) {
    for (const [name, value] of Object.entries(CARD)) {
      const field = frame.locator(`input[data-field="${name}"]`)
      await frame.locator('input').first().waitFor()
      if ((await field.count()) > 0) await field.fill(value)
    }
  }
}

/** The forms of a page that end something for good, and whether Enter would do that. */
function dangersOf(page: Page) {
  return page.locator('form[method="post"]').evaluateAll((all) =>
    all.map((form) => {
      const buttons = [...form.querySelectorAll('button')].filter(({ type }) => type === 'submit')
      const isDangerous = (button: Element | undefined) =>
        button?.matches('.danger, .danger-quiet') ?? false
      // A box that has to be ticked first keeps Enter from doing it.
      const isGuarded = form.querySelector('input[type="checkbox"][required]') !== null
      return {
        action: form.getAttribute('action'),
        isFirst: isDangerous(buttons[0]) && !isGuarded,
        isAsked: buttons.some(isDangerous),
      }
    }),
  )
}

/** A frame of a provider's takes a moment to become as high as its fields are, and does so in sight only. */
async function settled(page: Page): Promise<string[]> {
  for (const frame of await page.locator('iframe').all()) await frame.scrollIntoViewIfNeeded()
  let problems = await tooWide(page)
  for (let looks = 0; problems.length > 0 && looks < 10; looks++) {
    await page.waitForTimeout(100)
    problems = await tooWide(page)
  }
  return problems
}

/** Elements that are wider than the room they have, in the page and in its frames. */
async function tooWide(page: Page): Promise<string[]> {
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
          // The placeholder is what a person reads of an empty field.
          return isOutside || (isText && wide(element))
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
