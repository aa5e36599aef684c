import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import { Heading, usePage } from '../parts/layout.tsx'
import { Table } from '../parts/table.tsx'
import { renderAdmin, requireRole, runOperation } from './parts.tsx'

interface SettingJson {
  readonly name: string
  readonly variable: string | null
  readonly source: 'environment' | 'file' | 'fapi2' | 'default'
  readonly value: unknown
}

interface SettingsJson {
  readonly mode: 'demo' | 'production'
  readonly settings: readonly SettingJson[]
  readonly warnings: readonly string[]
}

/**
 * Adds the page that shows the settings in force. Settings are not changed there, but in the
 * configuration.
 */
export function addSettingsPage(app: Hono<AppEnv>): void {
  app.get('/admin/settings', requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const { mode, settings, warnings } = await runOperation<SettingsJson>(c, 'settings.get', {})
    const given = settings.filter(({ source }) => source !== 'default')
    const defaults = settings.filter(({ source }) => source === 'default')
    return renderAdmin(
      c,
      { title: t('admin.settings') },
      <>
        <Heading title={t('admin.settings')} lead={t('adminSettings.lead')} />
        <p>{t(`adminSettings.mode.${mode}`)}</p>
        {warnings.length > 0 && (
          <section class="notice warning" aria-labelledby="warnings">
            <h2 id="warnings">{t('adminSettings.warnings')}</h2>
            <ul lang="en">
              {warnings.map((warning) => (
                <li>{warning}</li>
              ))}
            </ul>
          </section>
        )}
        <SettingTable id="given" title={t('adminSettings.given')} settings={given} />
        <SettingTable id="defaults" title={t('adminSettings.defaults')} settings={defaults} />
      </>,
    )
  })
}

const SettingTable: FC<{ id: string; title: string; settings: readonly SettingJson[] }> = (
  props,
) => {
  const { id, title, settings } = props
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {settings.length === 0 ? (
        <p>{t('table.none')}</p>
      ) : (
        <Table
          caption={title}
          columns={[
            t('adminSettings.setting'),
            t('adminSettings.value'),
            t('adminSettings.source'),
          ]}
          rows={settings.map(({ name, variable, source, value }) => [
            <code>{name}</code>,
            <Value value={value} />,
            <>
              {t(`adminSettings.source.${source}`)}
              {variable !== null && variable !== name && (
                <small>
                  {' '}
                  <code>{variable}</code>
                </small>
              )}
            </>,
          ])}
        />
      )}
    </section>
  )
}

/** Maximum length of a value that is shown on one line. */
const LONGEST_LINE = 60

const Value: FC<{ value: unknown }> = ({ value }) => {
  if (value === null || value === undefined) {
    return <span class="quiet-text">{usePage().t('adminSettings.unset')}</span>
  }
  const line = typeof value === 'string' ? value : JSON.stringify(value)
  const isShort = typeof value === 'string' || line.length <= LONGEST_LINE
  const text = isShort ? line : JSON.stringify(value, null, 1)
  return <code class="value">{text}</code>
}
