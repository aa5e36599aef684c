import type { Child, FC } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { PageText } from '../../../messages/messages.ts'
import { Choice, Problem, TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import { fieldProblems } from '../parts.tsx'
import { type ClientJson, describeGrant, listOfferedGrants } from './client.ts'

/** Settings of a client for which the form has a field. All of them are URLs. */
const LINKS = [
  { name: 'logo_uri', label: 'adminClients.logo' },
  { name: 'client_uri', label: 'adminClients.homePage' },
  { name: 'policy_uri', label: 'adminClients.privacyPolicy' },
  { name: 'tos_uri', label: 'adminClients.terms' },
] as const

type LinkName = (typeof LINKS)[number]['name']
type Links = Readonly<Record<LinkName, string>>

/** The values of the form for an application. */
export interface ClientForm {
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly grants: readonly string[]
  /** Scopes that the application may request. `null` for any scope. */
  readonly scopes: readonly string[] | null
  readonly first_party: boolean
  readonly resource_server: boolean
  readonly links: Links
}

const collectLinks = (textOf: (name: LinkName) => string) =>
  Object.fromEntries(LINKS.map(({ name }) => [name, textOf(name)])) as Links

/** Initial values of the form for a new application. */
export const NEW_CLIENT: ClientForm = {
  name: '',
  redirect_uris: [],
  grants: ['authorization_code', 'refresh_token'],
  scopes: null,
  first_party: false,
  resource_server: false,
  links: collectLinks(() => ''),
}

/** Returns the values with which the form shows an application. */
export function toClientForm(client: ClientJson): ClientForm {
  const { name, redirect_uris, grants, scopes, first_party, resource_server, settings } = client
  const links = collectLinks((link) => String(settings[link] ?? ''))
  return { name, redirect_uris, grants, scopes, first_party, resource_server, links }
}

/** Reads the values of the posted form for an application. */
export function readClientForm(form: URLSearchParams): ClientForm {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    name: text('name'),
    redirect_uris: text('redirect_uris')
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter(Boolean),
    grants: form.getAll('grants'),
    scopes: form.get('limit') === 'these' ? form.getAll('scopes') : null,
    first_party: form.get('first_party') === 'yes',
    resource_server: form.get('resource_server') === 'yes',
    links: collectLinks(text),
  }
}

/** The fields that differ, as the input of `clients.update`. */
export function listChangedFields(formBefore: ClientForm | null, now: ClientForm) {
  const changed = (name: keyof ClientForm) =>
    formBefore === null || !isEqual(formBefore[name], now[name])
  const { links, ...fields } = now
  const settings = Object.entries(links)
    .filter(([name, value]) => formBefore === null || formBefore.links[name as LinkName] !== value)
    .map(([name, value]) => [name, value === '' ? null : value])
  return {
    ...Object.fromEntries(
      Object.entries(fields).filter(([name]) => changed(name as keyof ClientForm)),
    ),
    ...(settings.length > 0 && { settings: Object.fromEntries(settings) }),
  }
}

/** Lists are sets: the order of checkboxes and lines does not matter. */
function isEqual(one: unknown, other: unknown): boolean {
  const of = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value)
  return of(one) === of(other)
}

/**
 * Returns the values to show after another operator has changed the client: fields that this
 * operator edited keep the typed values, all others get the present ones.
 */
export function mergeForms(versions: {
  readonly before: ClientForm
  readonly typed: ClientForm
  readonly now: ClientForm
}): ClientForm {
  const { before, typed, now } = versions
  const pick = <Name extends keyof ClientForm>(name: Name): ClientForm[Name] =>
    isEqual(before[name], typed[name]) ? now[name] : typed[name]
  return {
    name: pick('name'),
    redirect_uris: pick('redirect_uris'),
    grants: pick('grants'),
    scopes: pick('scopes'),
    first_party: pick('first_party'),
    resource_server: pick('resource_server'),
    links: collectLinks((name) =>
      before.links[name] === typed.links[name] ? now.links[name] : typed.links[name],
    ),
  }
}

/** A field that another operator has changed, with its present value as text. */
export interface ForeignChange {
  readonly field: string
  readonly value: string
}

/** Lists the fields that another operator has changed, with the labels of the form. */
export function listForeignChanges(
  before: ClientForm,
  now: ClientForm,
  t: PageText,
): ForeignChange[] {
  const list = (values: readonly string[]) => values.join(', ') || t('adminClients.nothing')
  const flag = (value: boolean) => t(value ? 'admin.yes' : 'admin.no')
  const fields = [
    ['name', t('adminClients.name'), now.name],
    ['redirect_uris', t('clients.redirects'), list(now.redirect_uris)],
    [
      'grants',
      t('adminClients.grants'),
      list(now.grants.map((type) => describeGrant(type, t).title)),
    ],
    [
      'scopes',
      t('adminClients.scopes'),
      now.scopes === null ? t('adminClients.anyScope') : list(now.scopes),
    ],
    ['first_party', t('adminClients.firstParty'), flag(now.first_party)],
    ['resource_server', t('adminClients.resourceServer'), flag(now.resource_server)],
  ] as const
  return [
    ...fields
      .filter(([name]) => !isEqual(before[name], now[name]))
      .map(([, field, value]) => ({ field, value })),
    ...LINKS.filter(({ name }) => before.links[name] !== now.links[name]).map(
      ({ name, label }) => ({
        field: t(label),
        value: now.links[name] || t('adminClients.nothing'),
      }),
    ),
  ]
}

/** The choices that the form for an application offers. */
export interface ClientFormLimits {
  /**
   * Whether the form offers the settings for trusted clients. A client that registered itself
   * cannot be trusted.
   */
  readonly trust: boolean
  /** Whether only the name can be changed. */
  readonly nameOnly: boolean
  /** The scopes to choose from, by name. */
  readonly scopes: Readonly<Record<string, string>>
}

/** The form fields of a client. `children` follow the field for the name. */
export const ClientFields: FC<{
  values: ClientForm
  limits: ClientFormLimits
  problem: AdminProblem | null
  children?: Child
}> = ({ values, limits, problem, children }) => {
  const { t, service } = usePage()
  const problems = mapFieldProblems(problem)
  const grants = [...new Set([...listOfferedGrants(service), ...values.grants])]
  return (
    <>
      <TextField
        id="name"
        label={t('adminClients.name')}
        hint={t('clients.nameHint')}
        problem={problems.name}
        input={{ name: 'name', value: values.name, maxlength: 191, required: true }}
      />
      {children}
      {!limits.nameOnly && (
        <>
          <fieldset aria-describedby="grants-problem">
            <legend>{t('adminClients.grantsLegend')}</legend>
            {grants.map((type, at) => {
              const { title, text } = describeGrant(type, t)
              return (
                <Choice
                  id={`grant-${at}`}
                  type="checkbox"
                  name="grants"
                  value={type}
                  title={title}
                  description={text}
                  checked={values.grants.includes(type)}
                />
              )
            })}
            <Problem id="grants" text={problems.grants} />
          </fieldset>
          <RedirectField values={values} problem={problems.redirect_uris} />
          <ScopeFields values={values} scopes={limits.scopes} problem={problems.scopes} />
          {limits.trust && (
            <fieldset>
              <legend>{t('adminClients.trustLegend')}</legend>
              <Choice
                id="first_party"
                type="checkbox"
                name="first_party"
                value="yes"
                title={t('adminClients.firstParty')}
                description={t('adminClients.firstPartyText')}
                checked={values.first_party}
              />
              <Choice
                id="resource_server"
                type="checkbox"
                name="resource_server"
                value="yes"
                title={t('adminClients.resourceServer')}
                description={t('adminClients.resourceServerText')}
                checked={values.resource_server}
              />
              <Problem id="trust" text={problems.trust} />
            </fieldset>
          )}
          {LINKS.map(({ name, label }) => (
            <TextField
              id={name}
              label={t(label)}
              hint={name === 'logo_uri' ? t('adminClients.logoHint') : undefined}
              problem={name === 'logo_uri' ? problems.settings : undefined}
              input={{ type: 'url', name, value: values.links[name], maxlength: 2000 }}
            />
          ))}
        </>
      )}
    </>
  )
}

const RedirectField: FC<{ values: ClientForm; problem: string | undefined }> = (props) => {
  const { values, problem } = props
  const { t } = usePage()
  const text = values.redirect_uris.join('\n')
  const hint = 'redirect_uris-hint'
  // The text of a `<textarea>` is its content, not an attribute.
  return (
    <div class="field">
      <label for="redirect_uris">{t('clients.redirectLabel')}</label>
      <p class="hint" id={hint}>
        {t('clients.redirectHint')} {t('adminClients.redirectOptional')}
      </p>
      <textarea
        id="redirect_uris"
        name="redirect_uris"
        rows={3}
        spellcheck={false}
        aria-describedby={`${hint} redirect_uris-problem`}
        aria-invalid={problem ? 'true' : undefined}
      >
        {text}
      </textarea>
      <Problem id="redirect_uris" text={problem} />
    </div>
  )
}

const ScopeFields: FC<{
  values: ClientForm
  scopes: Readonly<Record<string, string>>
  problem: string | undefined
}> = ({ values, scopes, problem }) => {
  const { t } = usePage()
  const { scopes: chosen } = values
  const offered = [...new Set([...Object.keys(scopes), ...(chosen ?? [])])]
  return (
    <>
      <fieldset class="limit">
        <legend>{t('adminClients.limitLegend')}</legend>
        <Choice
          id="limit-any"
          type="radio"
          name="limit"
          value="any"
          title={t('adminClients.limitAny')}
          description={t('adminClients.limitAnyText')}
          checked={chosen === null}
        />
        <Choice
          id="limit-these"
          type="radio"
          name="limit"
          value="these"
          title={t('adminClients.limitThese')}
          checked={chosen !== null}
        />
      </fieldset>
      <fieldset class="limited" aria-describedby="scopes-problem">
        <legend>{t('adminClients.scopesLegend')}</legend>
        {offered.map((name, at) => (
          <Choice
            id={`scope-${at}`}
            type="checkbox"
            name="scopes"
            value={name}
            title={scopes[name] ?? name}
            description={name}
            checked={chosen?.includes(name) ?? false}
          />
        ))}
        <Problem id="scopes" text={problem} />
      </fieldset>
    </>
  )
}

/** Returns the problems of fields. The library uses other names for some fields. */
function mapFieldProblems(problem: AdminProblem | null) {
  const given = fieldProblems(problem)
  return {
    name: given.name,
    redirect_uris: given.redirect_uris ?? given.redirect,
    grants: given.grants,
    scopes: given.scopes,
    trust: given.firstParty ?? given.resourceServer,
    settings: given.settings,
  }
}
