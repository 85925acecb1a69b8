<?php
// SPDX-License-Identifier: MIT
// PHP's curl extension.
[, $url, $folder] = $argv;

function kept($ending)
{
    global $folder;
    return file_get_contents("$folder/plain$ending");
}

/** [status, Content-Encoding, body] */
function ask($path, $options)
{
    global $url;
    $coding = 'identity';
    $handle = curl_init($url . $path);
    curl_setopt_array($handle, $options + [
        CURLOPT_RETURNTRANSFER => true, CURLOPT_PROXY => '', CURLOPT_TIMEOUT => 30,
        CURLOPT_HEADERFUNCTION => function ($handle, $line) use (&$coding) {
            if (preg_match('/^content-encoding: *(\S+)/i', $line, $found)) {
                $coding = $found[1];
            }
            return strlen($line);
        }]);
    $body = curl_exec($handle);
    return [curl_getinfo($handle, CURLINFO_RESPONSE_CODE), $coding, $body];
}

function post($coding, $body)
{
    return ask('/tell.cgi', [CURLOPT_POSTFIELDS => $body,
        CURLOPT_HTTPHEADER => ["Content-Encoding: $coding", 'Expect:']]);
}

$bodies = ['gzip' => gzencode(kept('')), 'deflate' => gzcompress(kept('')), 'br' => kept('.br'),
    'zstd' => kept('.zst')];
foreach ($bodies as $coding => $body) {
    [$status, , $text] = post($coding, $body);
    echo "send $coding $status ", trim($text), "\n";
}
echo 'refused bad ', post('gzip', kept(''))[0], "\n";
echo 'refused unknown ', post('compress', kept(''))[0], "\n";
echo 'refused long ', post('gzip', kept('.long'))[0], "\n";
foreach (['default' => '', 'gzip' => 'gzip', 'br' => 'br', 'zstd' => 'zstd'] as $asked => $accepted) {
    [, $coding, $body] = ask('/page.html', [CURLOPT_ENCODING => $accepted]);
    echo "receive $asked $coding ", hash('sha256', $body), "\n";
}
foreach (array_keys($bodies) as $name) {
    echo "origin $name ", hash('sha256', ask("/origin/$name", [])[2]), "\n";
}
