import { PasswordSection } from "@/components/account/password-section"
import { TokensSection } from "@/components/account/tokens-section"
import { ThemeSection } from "@/components/account/theme-section"
import { Page } from "@/components/ui/page"

export default function SettingsPage() {
  return (
    <Page title="Settings">
      <ThemeSection />
      <PasswordSection />
      <TokensSection />
    </Page>
  )
}
