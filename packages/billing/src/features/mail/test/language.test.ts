import { describe, expect, it } from 'vitest'
import { extractPdfText } from '../../../../test/read-pdf.ts'
import { BASE_URL, PROVIDERS, start } from '../../../../test/support.ts'
import { germanPhrases } from '../../../core/words/de.ts'
import { englishPhrases } from '../../../core/words/en.ts'
import { frenchPhrases } from '../../../core/words/fr.ts'
import {
  type BillingOptions,
  InvalidArgument,
  type MailMessage,
  Unsupported,
} from '../../../index.ts'

const seller = { vendor: 'Example Ltd', product: 'Gold' }

/** Returns the language of an invoice and its mail, for every way to get them. */
async function readPrintedLanguage(
  provider: 'stripe' | 'braintree',
  options: Pick<BillingOptions, 'locale' | 'invoice'>,
  language?: string,
) {
  const sent: MailMessage[] = []
  const test = await start(provider, {
    invoice: seller,
    mail: { send: async (message) => sent.push(message) },
    authenticate: () => 1,
    ...options,
  })
  const { user, billing } = test
  const card = PROVIDERS.find((each) => each.provider === provider)?.card ?? ''
  await user.updateCard(card)
  if (language) await user.updateCustomer({ locale: language })
  await user.newSubscription('main', 'monthly').create()
  await test.advance({ days: 2 })
  const [receipt] = sent
  const [file] = (await receipt?.attachments()) ?? []
  const [invoice] = await user.invoices()
  const route = await billing.fetch(new Request(`${BASE_URL}/user/invoice/${invoice?.id}`))
  const downloaded = await user.downloadInvoice(invoice?.id ?? '', seller)
  const languageOf = (body: Uint8Array | undefined) => {
    const text = extractPdfText(body ?? new Uint8Array())
    const spoken = Object.entries({ de: germanPhrases, fr: frenchPhrases, en: englishPhrases })
    return spoken.flatMap(([name, words]) => (text.includes(words.billedTo) ? name : []))
  }
  const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())
  return {
    mail: receipt?.locale,
    attached: languageOf(file?.body),
    route: languageOf(await bytesOf(route)),
    downloaded: languageOf(await bytesOf(downloaded)),
  }
}

const all = (language: string) => ({
  mail: language,
  attached: [language],
  route: [language],
  downloaded: [language],
})

describe.each(PROVIDERS)('the language of mail and invoices at $provider', ({ provider, card }) => {
  it('comes from the `locale` option, if it is set', async () => {
    expect(
      await readPrintedLanguage(provider, { locale: async ({ id }) => (id === 1 ? 'de' : 'fr') }),
    ).toEqual(all('de'))
  })

  it('may be given with an underscore by the `locale` option', async () => {
    expect(await readPrintedLanguage(provider, { locale: () => 'de_AT' })).toEqual({
      ...all('de'),
      mail: 'de-AT',
    })
  })

  it('is the default language if no valid locale is found', async () => {
    expect(await readPrintedLanguage(provider, {})).toEqual(all('en'))
    const invoice = { ...seller, locale: 'fr' }
    expect(
      await readPrintedLanguage(provider, { invoice, locale: () => 'no language' }),
    ).toMatchObject({
      mail: 'fr',
      attached: ['fr'],
      route: ['fr'],
    })
  })

  it.runIf(provider === 'stripe')(
    'is the customer’s language at the provider, if the `locale` option is not set',
    async () => {
      const invoice = { ...seller, locale: 'fr' }
      expect(await readPrintedLanguage(provider, { invoice, locale: () => null }, 'de')).toEqual(
        all('de'),
      )
    },
  )

  it.runIf(provider === 'stripe')(
    'is stored at the provider, and read from it, in the provider’s notation',
    async () => {
      expect(await readPrintedLanguage(provider, {}, 'de_AT')).toEqual({
        ...all('de'),
        mail: 'de-AT',
      })
      const { user, sandbox } = await start(provider)
      await user.updateCard(card, { locale: 'pt_BR' })
      expect(sandbox.stripe.customers()).toMatchObject([{ preferred_locales: ['pt-BR'] }])
      await expect(user.updateCustomer({ locale: 'Deutsch!' })).rejects.toThrow(
        "locale is 'Deutsch!'; expected a language such as 'de' or 'pt-BR'",
      )
    },
  )

  it.runIf(provider === 'stripe')(
    'is replaced on a hosted page by the closest language that the page supports',
    async () => {
      const { user } = await start(provider)
      await user.updateCard(card)
      for (const locale of ['de_AT', 'en_US', 'ar', 'auto']) {
        const page = await user.checkout('monthly', { name: locale, locale, successPath: '/done' })
        expect(page.url).toMatch(/^http/)
        expect((await user.billingPortal({ locale, returnPath: '/' })).url).toMatch(/^http/)
      }
      const wrong = { locale: 'no language', successPath: '/done' }
      await expect(user.checkout('monthly', wrong)).rejects.toThrow(InvalidArgument)
    },
  )

  it.runIf(provider === 'braintree')(
    'cannot be stored with a customer if the provider has no such field',
    async () => {
      const { user, sandbox } = await start(provider)
      await expect(user.updateCard(card, { locale: 'de' })).rejects.toThrow(Unsupported)
      expect(sandbox.braintree.customers()).toEqual([])
      await user.updateCard(card)
      const change = user.updateCustomer({ name: 'Someone Else', locale: 'de' })
      await expect(change).rejects.toMatchObject({ capability: 'languages' })
      expect(sandbox.braintree.customers()).toMatchObject([{ firstName: 'Ada' }])
    },
  )
})
