import type { FC } from 'hono/jsx'
import { usePage } from '../parts/layout.tsx'

/** A search above a list. The search words are in the URL, so that a search can be shared. */
export const SearchForm: FC<{ action: string; label: string; value: string }> = (props) => {
  const { action, label, value } = props
  const { t } = usePage()
  return (
    <search>
      <form class="row bottom" action={action}>
        <div class="grow">
          <label for="search">{label}</label>
          <input id="search" type="search" name="search" value={value} maxlength={191} />
        </div>
        <button type="submit">{t('admin.search')}</button>
        {value !== '' && <a href={action}>{t('admin.showAll')}</a>}
      </form>
    </search>
  )
}
