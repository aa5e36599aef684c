import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import type { Settings } from '../../config/settings.ts'
import type { AppEnv } from '../../http/variables.ts'
import { usePage } from '../parts/layout.tsx'
import type { ContentPolicy } from '../parts/render.tsx'

/**
 * The challenge of the setting `captcha` inside a form. Renders nothing if the setting has no HTML.
 */
export const Captcha: FC = () => {
  const { html } = usePage().service.config.settings.captcha ?? {}
  return html === undefined ? null : <div class="field">{raw(html)}</div>
}

/** The sources that the challenge needs in the content security policy of its page. */
export function captchaPolicy({ captcha }: Pick<Settings, 'captcha'>): ContentPolicy {
  const sources = captcha?.sources ?? []
  if (sources.length === 0) return {}
  return {
    'script-src': sources,
    'style-src': sources,
    'frame-src': sources,
    'connect-src': sources,
  }
}

/** Whether the function of the setting `captcha` accepts the form. */
export async function passesCaptcha(c: Context<AppEnv>, form: URLSearchParams): Promise<boolean> {
  const { captcha } = c.get('page').service.config.settings
  return captcha === null || (await captcha.check(form, c.req.raw)) === true
}
