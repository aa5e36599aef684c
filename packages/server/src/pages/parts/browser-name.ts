import type { PageText } from '../../messages/messages.ts'

/** Translates the stored description of a browser, such as `Firefox on Windows`. */
export function describeBrowserName(browser: string | null, t: PageText): string {
  if (browser === null) return t('sessions.unknownBrowser')
  const [, name, system] = /^(\S+) on (.+)$/.exec(browser) ?? []
  return name && system ? t('sessions.browserOn', { browser: name, system }) : browser
}
