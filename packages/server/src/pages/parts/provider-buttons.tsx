import type { FC } from 'hono/jsx'
import { TestCookieField } from './fields.tsx'
import { usePage } from './layout.tsx'

/** Buttons that lead to the other providers of the setting `signInWith`. Work without a script. */
export const ProviderButtons: FC<{
  readonly returnTo: string
  /** Why the person signs in, although they may be signed in already. */
  readonly prompt?: string | null
}> = ({ returnTo, prompt = null }) => {
  const { service, t, languageQuery } = usePage()
  const { providers } = service.upstream
  if (providers.length === 0) return null
  return (
    <section class="stack apart" aria-label={t('signInWith.title')}>
      {providers.map(({ id, name }) => (
        <form method="post" action={`/login/with/${id}${languageQuery}`}>
          <input type="hidden" name="return_to" value={returnTo} />
          {prompt !== null && <input type="hidden" name="prompt" value={prompt} />}
          <TestCookieField />
          <button type="submit" class="wide">
            {t('signInWith.continue', { provider: name })}
          </button>
        </form>
      ))}
    </section>
  )
}
