# SPDX-License-Identifier: MIT
# Ruby's Net::HTTP.
require 'digest'
require 'net/http'
require 'zlib'

URL, FOLDER = ARGV

def kept(ending)
  File.binread("#{FOLDER}/plain#{ending}")
end

def post(coding, body)
  Net::HTTP.post(URI("#{URL}/tell.cgi"), body, 'Content-Encoding' => coding)
end

def get(path, headers = {})
  uri = URI(URL + path)
  Net::HTTP.start(uri.host, uri.port) { |http| http.request(Net::HTTP::Get.new(uri, headers)) }
end

bodies = { 'gzip' => Zlib.gzip(kept('')), 'deflate' => Zlib.deflate(kept('')), 'br' => kept('.br'),
           'zstd' => kept('.zst') }
bodies.each do |coding, body|
  answer = post(coding, body)
  puts "send #{coding} #{answer.code} #{answer.body.strip}"
end
puts "refused bad #{post('gzip', kept('')).code}"
puts "refused unknown #{post('compress', kept('')).code}"
puts "refused long #{post('gzip', kept('.long')).code}"
puts "receive default hidden #{Digest::SHA256.hexdigest(get('/page.html').body)}"
answer = get('/page.html', 'Accept-Encoding' => 'gzip')
puts "receive gzip #{answer['content-encoding']} #{Digest::SHA256.hexdigest(Zlib.gunzip(answer.body))}"
bodies.each_key { |name| puts "origin #{name} #{Digest::SHA256.hexdigest(get("/origin/#{name}").body)}" }
