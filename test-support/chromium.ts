import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { afterAll, afterEach, describe, expect } from 'vitest'
import { findChromium } from './find-chromium.ts'

export type Scheme = 'light' | 'dark'

const SCHEMES: readonly Scheme[] = ['light', 'dark']
/** Milliseconds to wait for one step on a page, on a machine that is busy with other tests. */
const MAX_WAIT = 90_000
export const DESKTOP = { width: 1280, height: 800 }
/** Viewport as narrow as on common phones. */
export const PHONE = { width: 360, height: 740 }

export interface PageSettings {
  readonly scheme?: Scheme
  readonly viewport?: { readonly width: number; readonly height: number }
  /** Language of the browser. The default is the language of the machine. */
  readonly language?: 'en' | 'de' | undefined
  /**
   * Whether the browser runs scripts.
   * @default true
   */
  readonly script?: boolean
  /**
   * Context of another page, to share its cookies. By default the page gets a new, empty context.
   */
  readonly context?: BrowserContext
  /**
   * Whether to reuse the tab that earlier tests of this file have used, without its pages, cookies
   * and listeners. It costs a quarter of a new one. Use it only in tests that do not depend on
   * storage, because data that scripts stored may remain.
   */
  readonly reuseTab?: boolean
  /** Cookies of a user who has signed in elsewhere, for the host of `url`. */
  readonly cookies?: { readonly url: string; readonly values: ReadonlyMap<string, string> }
}

export interface Chromium {
  /** Opens a new tab. Every console error fails the test, see `forgive`. */
  newPage(settings?: PageSettings): Promise<Page>
  /** Accepts the console errors of this page that match. */
  forgive(page: Page, pattern: RegExp): void
  /** Console errors of this page so far. */
  complaints(page: Page): readonly string[]
}

/**
 * Defines tests in a real Chromium, each in its own context. They are skipped if Chromium is not
 * installed, which the run reports at its start. Every console error and every violation of the
 * content security policy fails the test.
 * @example
 * ```ts
 * describeInChromium('the first page', ({ newPage }) => {
 *   it('greets', async () => {
 *     const page = await newPage({ scheme: 'dark' })
 *     await page.goto(service.url)
 *     await expectAccessible(page)
 *   })
 * })
 * ```
 */
export function describeInChromium(name: string, define: (chromium: Chromium) => void): void {
  const executablePath = findChromium()
  describe.skipIf(executablePath === null)(name, () => {
    const opened = new Map<Page, { complaints: string[]; forgiven: RegExp[] }>()
    let kept: Page | undefined

    afterEach(async () => {
      const left = [...opened.values()].flatMap(({ complaints, forgiven }) =>
        complaints.filter((text) => !forgiven.some((pattern) => pattern.test(text))),
      )
      const contexts = new Set([...opened.keys()].map((page) => page.context()))
      if (kept) contexts.delete(kept.context())
      opened.clear()
      await Promise.all([...contexts].map((context) => context.close()))
      expect(left, 'what the console complained about').toEqual([])
    })
    afterAll(() => kept?.context().close())

    async function openPage(settings: PageSettings): Promise<Page> {
      const context =
        settings.context ??
        (await newContext(executablePath, {
          colorScheme: settings.scheme ?? 'light',
          viewport: settings.viewport ?? DESKTOP,
          javaScriptEnabled: settings.script ?? true,
          reducedMotion: 'reduce',
          ...(settings.language ? { locale: settings.language } : {}),
        }))
      const page = await context.newPage()
      listen(page, (complaint) => opened.get(page)?.complaints.push(complaint))
      return page
    }

    async function openReusedTab(settings: PageSettings): Promise<Page> {
      if (!kept || kept.isClosed()) kept = await disableCache(await openPage(settings))
      else await resetTab(kept, settings)
      return kept
    }

    define({
      async newPage(settings = {}) {
        const page = await (settings.reuseTab ? openReusedTab(settings) : openPage(settings))
        opened.set(page, { complaints: [], forgiven: [] })
        const { cookies } = settings
        if (cookies) {
          const values = [...cookies.values]
          await page
            .context()
            .addCookies(values.map(([name, value]) => ({ name, value, url: cookies.url })))
        }
        return page
      },
      forgive(page, pattern) {
        opened.get(page)?.forgiven.push(pattern)
      },
      complaints: (page) => opened.get(page)?.complaints ?? [],
    })
  })
}

const TEST_EVENTS = [
  'request',
  'response',
  'requestfailed',
  'requestfinished',
  'dialog',
  'download',
  'popup',
]

/** Removes everything from a tab except our own listeners for the console and for errors. */
async function resetTab(page: Page, { scheme, viewport }: PageSettings): Promise<void> {
  for (const event of TEST_EVENTS) page.removeAllListeners(event)
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.setViewportSize(viewport ?? DESKTOP)
  await page.emulateMedia({ colorScheme: scheme ?? 'light' })
}

/** Disables the cache, so that a page loads all of its files each time. */
async function disableCache(page: Page): Promise<Page> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  return page
}

/**
 * Features of Chromium to switch off. Its suggestions below the address bar are two extra processes
 * for each window, a second of work. A repeated switch replaces the earlier one, so Playwright's
 * own list is included.
 */
const DISABLED_CHROMIUM_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

let launched: Promise<Browser> | undefined

/** Creates a context in the browser that all files of this process share, and that ends with it. */
async function newContext(
  executablePath: string | null,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  launched ??= chromium.launch({
    executablePath: executablePath ?? '',
    args: [`--disable-features=${DISABLED_CHROMIUM_FEATURES.join()}`],
  })
  const browser = await launched
  if (browser.isConnected()) {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(MAX_WAIT)
    return context
  }
  launched = undefined
  return newContext(executablePath, options)
}

/**
 * Collects console errors. Chromium reports policy violations, failed requests and failed scripts
 * there.
 */
function listen(page: Page, complain: (text: string) => void): void {
  page.on('console', (message) => {
    if (message.type() !== 'error' && !/content security policy/i.test(message.text())) return
    complain(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complain(String(error)))
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

/**
 * The accessibility rules whose result may depend on the colour scheme, as long as schemes differ
 * only in colours.
 */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Checks a page with all rules of axe, for WCAG and for best practices. */
export async function expectAccessible(page: Page, only?: readonly string[]): Promise<void> {
  // The debugger's own evaluation bypasses the content security policy without disabling it.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource)
  // Describing and transferring every node that passes takes three times as long as checking it.
  const options = {
    resultTypes: ['violations'],
    // The style sheets would only be needed for an experimental rule, which is off.
    preload: { assets: ['media'] },
    ...(only ? { runOnly: only } : {}),
  }
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  const texts = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => node.html).join('\n')}`,
  )
  expect(texts.join('\n'), `axe at ${page.url()}`).toBe('')
}

/**
 * Clicks a button that closes its own window. The window may be gone before the browser has
 * acknowledged the click.
 */
export async function clickToClose(window: Page, button: Locator): Promise<void> {
  const clicked = button.click().catch((error: Error) => {
    if (!error.message.includes('has been closed')) throw error
  })
  await Promise.all([window.waitForEvent('close'), clicked])
}

/** Checks that nothing is wider than the window, so that no user has to scroll sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })
  expect(scrollWidth, `the width of ${page.url()}`).toBeLessThanOrEqual(clientWidth)
}

/**
 * Checks a page on a desktop and on a phone, in light and dark, by resizing one window. The light
 * scheme is checked with all rules, the dark one only with those about colours, because its content
 * is equal.
 */
export async function expectAccessibleInAllLooks(page: Page, name: string): Promise<void> {
  for (const [device, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(viewport)
    const said: string[] = []
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      await takeScreenshot(page, `${name}-${device}-${colorScheme}`)
      await expectAccessible(page, colorScheme === 'dark' ? COLOUR_RULES : undefined)
      await expectNoSidewaysScroll(page)
      // biome-ignore lint/performance/useDomNodeTextContent: what is not shown is not said
      said.push(await page.locator('body').innerText())
    }
    expect(said[1], 'what the dark page says').toBe(said[0])
  }
}

/** Saves a screenshot if the environment names a folder for them. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
